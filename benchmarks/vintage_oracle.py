"""What all that is public of several vintages tells of a person, by exact integer programs.

The unknowns are how many people of each fine cell are in which of the vintages: a table for each
pattern of vintages. What is public are sums of them. The program is not asked; no table, margin or
bound of it is used.

**Who looks.** Two intruders, both of whom know every table that is out, how codings of the vintages
relate, and the policy:

- *who knows the register* knows how many people have each pattern (who was there when), and nothing
  else of anybody;
- *who knows those who moved* knows besides, of everybody who came or went between some of the
  vintages, the cell over the columns that these share, in the finest coding that all of them have.

**What none of them may learn**, by the thresholds of a site, which all its vintages share:

- of a small count of a vintage (in all its columns that identify, in its own coding) the possible
  values span `small.width`; so too of those who stayed in several, and, in the columns that two
  vintages have, in the finest coding of both, of those who came and who went between them;
- of no group of these people by up to `attribute.order` columns that identify does a sensitive
  category have `attribute.share` in every table that fits and has somebody in the group, nor is it
  ruled out, with `attribute.exclusion`.

Cells of published tables from 1 to `published.least` less 1 are counted where they are read.

**What is not counted**, because docs/server.md says so:

- what follows without anything of the vintage that it is about: people who left cannot take back
  what was published while they were there, and no decision of the server changed it;
- of those who came and went: columns that only one of the two vintages has, of which no table says
  what those had who came; and cells from which somebody went while another came. Tables have no
  names of people, so "who left while another came to the same cell is no change";
- of those who stayed: parts of a cell over the shared columns from which somebody went, or to which
  somebody came. Who of them stayed "no table says", nor can the server know it;
- what a refusal, a status or a time tells: "what refusals tell is not in the bounds".
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp


@dataclass(frozen=True)
class Column:
    """Of each fine cell the label that a column has there."""

    labels: tuple[str, ...]
    identifies: bool = True
    sensitive: bool = False

    def lines(self) -> dict[str, np.ndarray]:
        return {
            one: np.array([own == one for own in self.labels]) for one in sorted({*self.labels})
        }


@dataclass(frozen=True)
class Limits:
    """The keys of a policy that are judged here."""

    most: int
    width: int
    attribute: bool
    share: float
    exclusion: bool
    order: int


@dataclass
class Shown:
    """A vintage: its columns, its policy, and the margins that are out."""

    columns: Mapping[str, Column]
    limits: Limits
    out: Sequence[tuple[str, ...]]

    def rows(self) -> np.ndarray:
        """Each published sum as a row over the fine cells."""
        found = [row for margin in self.out for row in cells(self.columns, margin)]
        return np.array(found)


def cells(columns: Mapping[str, Column], names: Iterable[str]) -> Iterator[np.ndarray]:
    """The fine cells of each cell of a margin."""
    lines = [list(columns[name].lines().values()) for name in names]
    fine = len(next(iter(columns.values())).labels)
    for chosen in itertools.product(*lines):
        yield np.logical_and.reduce([np.ones(fine, bool), *chosen])


class Fitting:
    """Tables of whole numbers with the same sums as the true one, found as they are asked for."""

    def __init__(self, rows: np.ndarray, true: np.ndarray) -> None:
        self.rows = np.unique(rows.astype(float), axis=0)
        self.sums = self.rows @ true
        self.seen = true[None]

    def least(self, goal: np.ndarray, among: np.ndarray | None = None) -> int:
        """The least value of a sum, of tables that have somebody `among` these."""
        limits = [LinearConstraint(self.rows, self.sums, self.sums)]
        if among is not None:
            limits.append(LinearConstraint(among[None].astype(float), 1, np.inf))
        found = milp(
            goal.astype(float), integrality=1, bounds=Bounds(0, np.inf), constraints=limits,
            options={"mip_rel_gap": 0.0},
        )  # fmt: skip
        assert found.status == 0, found.message
        table = np.round(found.x).astype(np.int64)
        assert np.array_equal(self.rows @ table, self.sums)
        self.seen = np.vstack([self.seen, table])
        return int(goal @ table)

    def spans(self, goal: np.ndarray, width: int) -> bool:
        """Do the possible values of a sum span so much?"""
        if np.ptp(self.seen @ goal) >= width:
            return True
        low = self.least(goal)
        return np.ptp(self.seen @ goal) >= width or -self.least(-goal) - low >= width

    def below(self, goal: np.ndarray, among: np.ndarray) -> bool:
        """Is a sum below 0 in some table that has somebody `among` these?"""
        some = self.seen @ among > 0
        return bool((self.seen[some] @ goal < 0).any()) or self.least(goal, among) < 0


@dataclass(frozen=True)
class People:
    """Some of the people: those of some patterns, in the columns of a vintage."""

    who: str
    patterns: np.ndarray
    shown: Shown
    newest: int  # the vintage that must have told something
    hidden: np.ndarray  # fine cells where somebody went while another came

    def told(self, tables: Fitting, true: np.ndarray) -> Iterator[tuple[str, object]]:
        """What follows of them against the policy: a sentence, and what to ask of other tables."""
        limits = self.shown.limits
        columns = self.shown.columns
        keys = [name for name, column in columns.items() if column.identifies]
        for own in cells(columns, keys) if keys else ():
            count = self._sum(own) @ true
            if 1 <= count <= limits.most and not (own & self.hidden).any():
                yield f"a small count of {count}", ("spans", self._sum(own), limits.width)
        if not limits.attribute:
            return
        for n in range(min(limits.order, len(keys)) + 1):
            for names in itertools.combinations(keys, n):
                for name, column in columns.items():
                    if column.sensitive and name not in names and len({*column.labels}) > 1:
                        yield from self._groups(names, column, true)

    def _groups(
        self, names: tuple[str, ...], column: Column, true: np.ndarray
    ) -> Iterator[tuple[str, object]]:
        limits = self.shown.limits
        share = Fraction(limits.share).limit_denominator(1_000)
        for own in cells(self.shown.columns, names):
            group = self._sum(own)
            if not group @ true or (own & self.hidden).any():
                continue
            for category in column.lines().values():
                some = self._sum(own & category)
                if some @ true >= float(share) * (group @ true) - 1e-9:
                    goal = share.denominator * some - share.numerator * group
                    yield f"a share in a group of {group @ true}", ("below", goal, group)
                if limits.exclusion and not some @ true:
                    yield f"nobody in a group of {group @ true}", ("spans", some, 1)

    def _sum(self, own: np.ndarray) -> np.ndarray:
        return np.kron(self.patterns, own).astype(np.int64)


def unsafe(
    vintages: Sequence[Shown], presence: np.ndarray, place: np.ndarray
) -> tuple[list[str], int]:
    """What an intruder learns that the policy forbids, and how much was looked at.

    `presence` says of each person who is in which vintage, `place` their fine cell; vintages are in
    the order of their opening, and each has something out.
    """
    fine = len(next(iter(vintages[0].columns.values())).labels)
    there = presence.any(1)
    kinds, kind = np.unique(presence[there], axis=0, return_inverse=True)
    true = np.bincount(kind.ravel() * fine + place[there], minlength=len(kinds) * fine)
    totals = np.kron(np.eye(len(kinds), dtype=int), np.ones(fine, int))

    def public(number: int) -> np.ndarray:
        sums = [np.kron(kinds[:, v], row) for v in range(number) for row in vintages[v].rows()]
        return np.vstack([totals, *sums])

    found: list[str] = []
    register = [Fitting(public(number), true) for number in range(len(vintages) + 1)]
    looked = 0
    for people in _judged(vintages, kinds, true, fine):
        for said, question in people.told(register[-1], true):
            looked += 1
            if not _open(register[-1], question) and _open(register[people.newest], question):
                found.append(f"{people.who}: {said}, to who knows the register")
    for group in _groups_of(len(vintages)):
        stays = kinds[:, group].all(1)
        if not (stays @ true.reshape(len(kinds), fine)).any():
            continue
        shared = common_cells([vintages[v].columns for v in group], fine)
        known = [
            np.kron(~stays & one, own) for one in np.eye(len(kinds), dtype=bool) for own in shared
        ]
        now, before = (
            Fitting(np.vstack([public(number), *known]).astype(int), true)
            for number in (len(vintages), group[-1])
        )
        for v in group:
            moved = _moved(kinds, true, fine, group, shared, vintages[v])
            who = f"those who stayed in {group}, as in {v}"
            people = People(who, stays.astype(int), vintages[v], group[-1], moved)
            for said, question in people.told(now, true):
                looked += 1
                if not _open(now, question) and _open(before, question):
                    found.append(f"{people.who}: {said}, to who knows those who moved")
    return found, looked


def _moved(
    kinds: np.ndarray, true: np.ndarray, fine: int, group: Sequence[int],
    shared: Iterable[np.ndarray], shown: Shown,
) -> np.ndarray:  # fmt: skip
    """The shared cells with movers that a vintage divides: no table says who of them stayed."""
    counts = true.reshape(len(kinds), fine)
    some = kinds[:, group].any(1) & ~kinds[:, group].all(1)
    movers = (some @ counts) > 0
    labels = [column.labels for column in shown.columns.values()]
    found = np.zeros(fine, bool)
    for own in shared:
        parts = {tuple(line[c] for line in labels) for c in np.flatnonzero(own)}
        if (own & movers).any() and len(parts) > 1:
            found |= own
    return found


def _open(tables: Fitting, question: tuple) -> bool:
    kind, goal, limit = question
    return tables.spans(goal, limit) if kind == "spans" else tables.below(goal, limit)


def _groups_of(number: int) -> Iterator[list[int]]:
    yield from ([a, b] for a, b in itertools.combinations(range(number), 2))
    if number > 2:
        yield list(range(number))


def _judged(
    vintages: Sequence[Shown], kinds: np.ndarray, true: np.ndarray, fine: int
) -> Iterator[People]:
    """The people of each vintage; those who came and who went between each two."""
    nowhere = np.zeros(fine, bool)
    for v, shown in enumerate(vintages):
        yield People(f"vintage {v}", kinds[:, v].astype(int), shown, v, nowhere)
    for old, new in itertools.combinations(range(len(vintages)), 2):
        hidden = _hidden(kinds, true, fine, [old, new], vintages)
        came = kinds[:, new] & ~kinds[:, old]
        went = kinds[:, old] & ~kinds[:, new]
        for who, some, own, other in (("came", came, new, old), ("went", went, old, new)):
            columns = shared_columns(vintages[own].columns, vintages[other].columns, fine)
            shown = Shown(columns, vintages[own].limits, ())
            yield People(f"who {who} from {old} to {new}", some.astype(int), shown, new, hidden)


def _hidden(
    kinds: np.ndarray, true: np.ndarray, fine: int, group: Sequence[int], vintages: Sequence[Shown]
) -> np.ndarray:
    """Fine cells which no table of two vintages tells from one where somebody went and another
    came: they have the same labels in all columns that say the same in both.
    """
    found = np.zeros(fine, bool)
    counts = true.reshape(len(kinds), fine)
    for old, new in itertools.combinations(group, 2):
        came = ((kinds[:, new] & ~kinds[:, old]) @ counts) > 0
        went = ((kinds[:, old] & ~kinds[:, new]) @ counts) > 0
        both = [vintages[old].columns, vintages[new].columns]
        for own in common_cells(both, fine):
            if (own & came).any() and (own & went).any():
                found |= own
    return found


def shared_columns(
    own: Mapping[str, Column], others: Mapping[str, Column], fine: int
) -> dict[str, Column]:
    """The columns that tell something of another vintage's, in the finest coding of both."""
    found = {}
    for name, column in own.items():
        for other in others.values():
            blocks = common_cells([{"": column}, {"": other}], fine)
            if len(blocks) > 1:
                number = {int(c): str(n) for n, b in enumerate(blocks) for c in np.flatnonzero(b)}
                labels = tuple(number[c] for c in range(fine))
                found[name] = dataclasses.replace(column, labels=labels)
                break
    return found


def common_cells(every: Sequence[Mapping[str, Column]], fine: int) -> list[np.ndarray]:
    """The finest cells that are unions of cells of all tables."""
    group = np.arange(fine)
    for columns in every:
        own = [tuple(column.labels[c] for column in columns.values()) for c in range(fine)]
        for label in {*own}:
            members = [c for c in range(fine) if own[c] == label]
            joined = {group[c] for c in members}
            group[np.isin(group, [*joined])] = min(joined)
    return [group == g for g in np.unique(group)]
