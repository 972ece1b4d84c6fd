"""What users ask for: their requests as weights of margins, and who is served by a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum, nan
from numbers import Real
from pathlib import Path
from typing import Any, NoReturn

from discreet.data.frames import label
from discreet.data.settings import only
from discreet.data.smallfiles import read_csv, read_json, read_toml
from discreet.errors import DataError, FormulaError, alike, near
from discreet.look.result import Result, Shown
from discreet.look.words import plural
from discreet.table import lattice, notation
from discreet.table.cells import frame
from discreet.table.formula import Formula, Margin

EVERYBODY = "all users"  # who asks, where no user is named
MOST = 1e15  # up to here counts add up without overflow
_COLUMNS = ("user", "margin", "count", "weight")
_FORM = '{"users": {"Ann": 1}, "requests": [{"user": "Ann", "margin": "A*B", "count": 2}]}'

Weights = Mapping[str, float] | None
Asked = Mapping[Any, Any]  # count by margin, or that by user
Row = tuple[str, Mapping[str, Any]]  # where it stands, and what it says


@dataclass(frozen=True)
class Request:
    """A user asks for a margin, a bit set over the table's variables, `count` times."""

    user: str
    margin: int
    count: float = 1.0


@dataclass(frozen=True)
class UserShare(Shown):
    """How much of what one user asked for is served; `missed` has the most wanted margin first."""

    name: str
    weight: float
    requests: int
    count: float
    served: float
    share: float
    missed: tuple[Margin, ...]


@dataclass(frozen=True)
class Requests(Result):
    """Who asks for which margins of a table, how often, and what each user weighs.

    A user's requests are scaled to add up to the user's weight, so that thousands of requests by
    one user do not crowd out the others. Who asks for nothing, by a
    count of 0, is left out.

    >>> asked = Requests.of({"Ann": {"Age": 3, "Sex": 1}, "Bob": {"Sex": 90}}, ["Age", "Sex"])
    >>> asked
    Requests(2 margins of 2 variables, asked for by 2 users with a weight of 2)
    >>> asked.weights(), asked.worth(Formula.parse("Age", asked.names))
    ({1: 0.75, 2: 1.25}, 0.375)
    """

    names: tuple[str, ...]
    requests: tuple[Request, ...]
    users: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names, rows = tuple(self.names), tuple(self.requests)
        Formula(names, tuple(row.margin for row in rows))  # refuses wrong names and bit sets
        for row in rows:
            _number(row.count, "count", f"the requests of {row.user!r}")
        known = dict.fromkeys(row.user for row in rows)
        for user, weight in self.users.items():
            if user not in known:
                _unknown("user", user, "the weights", list(known))
            _number(weight, f"the weight of {user!r}", "the weights")
        kept = tuple(row for row in rows if row.count > 0)
        if not kept:
            why = "every count is 0" if rows else "there is no request"
            raise DataError(f"{why}; ask for at least one margin with a count above 0.")
        users = {row.user: float(self.users.get(row.user, 1)) for row in kept}
        if not any(users.values()):
            raise DataError("every user has a weight of 0; give at least one a weight above 0.")
        for name, value in (("names", names), ("requests", kept), ("users", users)):
            object.__setattr__(self, name, value)

    @classmethod
    def read(cls, path: str | Path, names: Iterable[str], users: Weights = None) -> Requests:
        """Requests or a poll from CSV, requests from JSON or TOML; `users` replace its weights."""
        path, names = Path(path), tuple(names)
        shown, kind = repr(path.name), path.suffix.lower()
        if kind not in (".csv", ".tsv", ".txt", ".json", ".toml"):
            raise DataError(f"{shown} ends in {kind!r}, which is not read; use .csv, .json, .toml.")
        if kind in (".json", ".toml"):
            rows, weights = _from_object(
                read_toml(path) if kind == ".toml" else read_json(path), shown
            )
        else:
            rows, weights = _from_csv(path), {}
        if not rows:
            raise DataError(f"{shown} has no request; add at least one margin.")
        given = {u: _number(w, f"the weight of {u!r}", shown) for u, w in weights.items()}
        requests, found = _collected(rows, names, given)
        return cls(names, requests, found | dict(users or {}))

    @classmethod
    def of(cls, asked: Asked, names: Iterable[str], users: Weights = None) -> Requests:
        """Counts by margin, `{"Age*Sex": 3, ("Age", "Town"): 1}`, or such a mapping a user."""
        lone = [key for key, value in asked.items() if not isinstance(value, Mapping)]
        if 0 < len(lone) < len(asked):
            raise DataError(f"{lone[0]!r} stands beside users; name the user who asks for it.")
        by_user = {None: asked} if lone else asked
        rows = [
            ("the requests", {"user": user, "margin": margin, "count": count})
            for user, margins in by_user.items()
            for margin, count in margins.items()
        ]
        names = tuple(names)
        return cls(names, _collected(rows, names, {})[0], users or {})

    @cached_property
    def _asked(self) -> dict[str, dict[int, float]]:
        """Counts by user and margin; exact sums, so that the order of requests does not matter."""
        counts: dict[str, dict[int, list[float]]] = {}
        for row in self.requests:
            counts.setdefault(row.user, {}).setdefault(row.margin, []).append(row.count)
        return {user: {m: fsum(c) for m, c in own.items()} for user, own in counts.items()}

    @cached_property
    def _totals(self) -> dict[str, float]:
        return {user: fsum(own.values()) for user, own in self._asked.items()}

    def _part(self, user: str, count: float) -> float:
        """The weight that a count comes to."""
        return self.users[user] * (count / self._totals[user])

    def weights(self) -> dict[int, float]:
        """The weight of each margin that is asked for, over all users, by its bit set."""
        parts: dict[int, list[float]] = {margin: [] for margin in self.first_come()}
        for user, own in self._asked.items():
            for margin, count in own.items():
                parts[margin].append(self._part(user, count))
        return {margin: fsum(part) for margin, part in parts.items()}

    def first_come(self) -> tuple[int, ...]:
        """The margins in the order in which they were first asked for."""
        return tuple(dict.fromkeys(request.margin for request in self.requests))

    def served(self, formula: Formula) -> tuple[UserShare, ...]:
        """What each user gets: margins that are released or follow by adding up."""
        if formula.names != self.names:
            raise FormulaError(
                f"the release is over {', '.join(formula.names)}, the requests over "
                f"{', '.join(self.names)}; build both from one table"
            )
        frontier = formula.frontier.sets
        released = {m for m in self.first_come() if any(not m & ~s for s in frontier)}
        shares = []
        for user, own in self._asked.items():
            total = self._totals[user]
            got = fsum(count for margin, count in own.items() if margin in released)
            lost = sorted(own.keys() - released, key=lambda m: (-own[m], m.bit_count(), m))
            asked = (self._part(user, total), len(own), total)
            shares.append(UserShare(user, *asked, got, got / total, tuple(map(self._named, lost))))
        return tuple(shares)

    def worth(self, formula: Formula) -> float:
        """The share of all weight that a release serves, from 0 to 1."""
        shares = self.served(formula)
        served = fsum(user.weight * user.share for user in shares)
        return served / fsum(user.weight for user in shares)

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a user and margin: the count, and the weight that it comes to."""
        rows = [
            (user, _written([self._named(margin)]), count, self._part(user, count))
            for user, own in self._asked.items()
            for margin, count in own.items()
        ]
        columns = map(list, zip(*rows, strict=True))
        return frame(dict(zip(("user", "margin", "count", "weight"), columns, strict=True)), kind)

    def _named(self, margin: int) -> Margin:
        return tuple(self.names[p] for p in lattice.bits(margin))

    def __repr__(self) -> str:
        margins = plural(len(self.first_come()), "margin")
        margins += f" of {plural(len(self.names), 'variable')}"
        weight = f" with a weight of {fsum(self.users.values()):g}"
        return f"Requests({margins}, asked for by {plural(len(self.users), 'user')}{weight})"


def share_frame(shares: Iterable[UserShare], kind: str = "pandas") -> Any:
    """One row a user: what was asked for and served, and the missed margins as a formula.

    >>> import discreet as dc
    >>> asked = dc.users.Requests.of({"Ann": {"Age": 3, "Sex": 1}}, ["Age", "Sex"])
    >>> dc.users.share_frame(asked.served(dc.Formula.parse("Age", asked.names)))
      user  weight  requests  count  served  share missed
    0  Ann     1.0         2    4.0     3.0   0.75    Sex
    """
    shares = tuple(shares)
    measures = ("weight", "requests", "count", "served", "share")
    columns: dict[str, list[Any]] = {"user": [s.name for s in shares]}
    columns |= {measure: [getattr(s, measure) for s in shares] for measure in measures}
    return frame(columns | {"missed": [_written(s.missed) for s in shares]}, kind)


def _written(margins: Iterable[Margin]) -> str:
    return " + ".join("*".join(map(notation.quoted, margin)) for margin in margins)


# What rows say


def _collected(
    rows: Sequence[Row], names: tuple[str, ...], weights: dict[str, float]
) -> tuple[tuple[Request, ...], dict[str, float]]:
    """The requests of rows, and the users' weights with those that rows carry."""
    named = any(row.get("user") not in (None, "") for _, row in rows)
    requests, weights = [], dict(weights)
    for where, row in rows:
        user = _user(row, where) if named else EVERYBODY
        margin = _margin(row.get("margin"), names, where)
        requests.append(Request(user, margin, _number(row.get("count", 1), "count", where)))
        if (weight := row.get("weight")) in (None, ""):
            continue
        if not named:
            raise DataError(f"a weight in {where} has no user; name the user beside it.")
        number = _number(weight, "weight", where)
        if (other := weights.setdefault(user, number)) != number:
            two = f"user {user!r} has the weight {other:g} and, in {where}, {number:g}"
            raise DataError(f"{two}; give each user one weight.")
    return tuple(requests), weights


def _margin(value: object, names: tuple[str, ...], where: str) -> int:
    if isinstance(value, str) and value.strip():
        sets = notation.read(value, names, where)
        if len(sets) > 1:
            found = f"{value!r:.80} in {where} names {len(sets)} margins"
            raise FormulaError(f"{found}; make a request for each")
        return sets[0]
    if value and isinstance(value, list | tuple | frozenset):
        return notation.bit_set(value, names, where)
    shown = "no margin" if value in (None, "", [], ()) else f"{value!r:.80}, which is no margin"
    raise FormulaError(f"a request in {where} has {shown}; write one as A*B")


def _number(value: Any, what: str, where: str) -> float:
    if value is None or value == "":
        raise DataError(f"{what} in {where} is missing; write a number of 0 or more.")
    number = nan
    if not isinstance(value, bool) and isinstance(value, str | Real):
        with suppress(ValueError, OverflowError):
            number = float(value)
    if not 0 <= number <= MOST:
        raise DataError(f"{what} = {value!r:.80} in {where} must be a number from 0 to {MOST:g}.")
    return number


def _user(row: Mapping[str, Any], where: str) -> str:
    user = row.get("user")
    if not isinstance(user, str | int | None) or isinstance(user, bool):
        raise DataError(f"user = {user!r:.80} in {where} must be a name.")
    if not (name := label(user)):
        raise DataError(f"a request in {where} has no user, others have; name who asks for it.")
    return name


def _unknown(what: str, name: object, where: str, known: Sequence[str]) -> NoReturn:
    raise DataError(f"unknown {what} {name!r:.80} in {where}; {near(name, known)}")


# Files


def _from_csv(path: Path) -> list[Row]:
    read = read_csv(path, between="\t" if path.suffix.lower() == ".tsv" else None)
    shown, columns = read.name, _header(read.heading, read.name)
    rows = replace(read, heading=columns).rows()
    others = [column for column in columns if column not in _COLUMNS]
    if others and len(columns) > len(others) + 1:
        _unknown("column", others[0], shown, _COLUMNS)
    return _poll(rows, others, shown) if others else [*rows]


def _header(fields: Sequence[str], shown: str) -> list[str]:
    columns = [f.casefold() if f.casefold() in _COLUMNS else f for f in fields]
    for place, column in enumerate(columns, 1):
        if not column:
            raise DataError(f"column {place} of {shown} has no name; give it one in the header.")
        if columns.index(column) != place - 1:
            raise DataError(f"{shown} has two columns named {column!r}; rename one.")
    if "margin" not in columns:
        listed = ", ".join(map(repr, columns[:10]))
        raise DataError(f"{shown} has no column 'margin'; it has {listed:.300}, rename one.")
    return columns


def _poll(rows: Sequence[tuple[str, dict[str, str]]], users: list[str], shown: str) -> list[Row]:
    """A column a user: votes or points, none where the field is empty."""
    for user in users:
        said = "".join(row[user] for _, row in rows)
        if alike(user, _COLUMNS, 0.8) or (said and not any(map(str.isdigit, said))):
            _unknown("column", user, shown, (*_COLUMNS, "or a user's votes as numbers"))
    votes: list[Row] = []
    for where, row in rows:
        for user in users:
            count = _number(row[user] or 0, f"the vote of {user!r}", where)
            votes.append((where, {"margin": row["margin"], "user": user, "count": count}))
    return votes


def _from_object(content: object, shown: str) -> tuple[list[Row], Mapping[str, object]]:
    if isinstance(content, list):
        content = {"requests": content}
    found = content if isinstance(content, dict) else {}
    only(found, ("users", "requests"), shown)
    requests, users = found.get("requests"), found.get("users", {})
    if not isinstance(requests, list) or not isinstance(users, dict):
        raise DataError(f"{shown} does not list requests; write them as in {_FORM}.")
    rows: list[Row] = []
    for place, row in enumerate(requests, 1):
        where = f"request {place} of {shown}"
        if not isinstance(row, dict):
            raise DataError(f"{where} is {row!r:.80}; write it as in {_FORM}.")
        only(row, _COLUMNS, where)
        rows.append((where, row))
    return rows, users
