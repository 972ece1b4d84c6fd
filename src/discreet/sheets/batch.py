"""The tables of a release, read from a list: one batch, judged together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.data.codebook import Variable
from discreet.data.frames import label
from discreet.data.settings import Keys
from discreet.errors import DataError, near
from discreet.sheets.grouping import Grouping, Line
from discreet.sheets.labels import cut_at
from discreet.sheets.listed import (
    CODING,
    KEYS,
    MEASURE,
    Listed,
    located,
    product,
    read_listing,
)
from discreet.sheets.sheet import Measure, Sheet, Status

BY_VARIABLE = ("groups", "cuts", "levels", "hidden")


def read_batch(
    path: str | Path, variables: Iterable[Variable], *, columns: Iterable[str] = ()
) -> tuple[Sheet, ...]:
    """The sheets that a list names, .txt, .toml or .xlsx.

    `columns` are those of the data, among which values, weights and owners must be; without them
    that is not looked at.

    >>> from tempfile import TemporaryDirectory
    >>> age, town = Variable("Age", ("17", "18", "50")), Variable("Town", ("A", "B"))
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tables.txt"
    ...     _ = path.write_text("1: Age*Town\\nTown | value=Income, where Age=17 or 18 # young")
    ...     read_batch(path, [age, town])
    (Sheet(1: Age 4 x Town 3, count), Sheet(2: Town 3, sum of Income, Age=17 + 18))
    """
    listing = read_listing(path)
    known = {variable.name: variable for variable in variables}
    reader = _Reader(known, tuple(columns))
    for name, said in listing.codings.items():
        reader.add(name, said, f"coding {name!r} of {listing.file}")
    sheets: list[Sheet] = []
    for place, listed in enumerate(listing.tables, 1):
        sheet = reader.sheet(Listed(listed.at, {"name": str(place), **listed.said}))
        if listed.numbered and sheet.name in reader.columns:
            raise DataError(
                f"{listed.at}: {sheet.name!r} before the colon is a column, too; write "
                f"name={sheet.name} or value={sheet.name} behind a |."
            )
        if any(sheet.name == other.name for other in sheets):
            raise DataError(f"{listed.at}: two tables are called {sheet.name!r}; rename one.")
        sheets.append(sheet)
    return tuple(sheets)


@dataclass(frozen=True)
class _Shown:
    """How one variable is shown: its groups or cuts, levels, hidden lines, total."""

    variable: Variable
    groups: Mapping[str, Sequence[object]] | None = None
    cuts: Sequence[object] | None = None
    levels: int | None = None
    hidden: Sequence[object] = ()
    total: bool = True

    def changed(self, keys: Keys) -> _Shown:
        """With what is said of the variable."""
        said: dict[str, Any] = {key: keys.listed(key) for key in ("cuts", "hidden") if key in keys}
        if "groups" in keys:
            said["groups"] = keys.table("groups", "map labels to lists of categories")
        if "levels" in keys:
            said["levels"] = keys.whole("levels", 1, 1)
        return dataclasses.replace(self, total=keys.flag("total", self.total), **said)

    def grouping(self, at: str) -> Grouping:
        name = self.variable.name
        if self.groups is not None and self.cuts is not None:
            raise DataError(f"{at}: {name!r} has groups and cuts; take one out.")
        own = self.groups if self.cuts is None else cut_at(self.variable, self.cuts)
        if own is not None:
            if self.levels is not None:
                raise DataError(f"{at}: {name!r} has groups of its own; take out its levels.")
            found = Grouping.cut(self.variable, _groups(own, name, at), total=self.total)
        else:
            found = Grouping.of(self.variable, levels=self.levels, total=self.total)
        for one in self.hidden:
            if label(one) not in found.labels:
                raise DataError(
                    f"{at}: {label(one)!r} is hidden but is no line of {name!r}; "
                    f"{near(label(one), found.labels)}"
                )
        hidden = {label(one) for one in self.hidden}
        return found.keep(one for one in found.labels if one not in hidden) if hidden else found


def _groups(own: Mapping[str, Any], name: str, at: str) -> Mapping[str, Any]:
    for group, chosen in own.items():
        if not isinstance(chosen, list) or not chosen:
            raise DataError(
                f"{at}: group {group!r} of {name!r} = {chosen!r} must be a list of categories."
            )
    return own


class _Reader:
    """Sheets from what a list says, among known variables, codings and columns."""

    def __init__(self, variables: Mapping[str, Variable], columns: tuple[str, ...]) -> None:
        self.variables, self.columns = variables, columns
        self.codings: dict[str, _Shown] = {}

    def add(self, name: str, said: Mapping[str, Any], at: str) -> None:
        """A coding that tables may name like a variable."""
        if name in self.variables:
            raise DataError(f"{at} is called like a variable; give it another name.")
        keys = Keys(said, CODING, at)
        if keys.text("variable", "name the variable that it groups") is None:
            raise DataError(f"{at} has no variable; say which it groups.")
        if said["variable"] not in self.variables and said["variable"] in self.columns:
            return  # no table uses it, and its variable was not read
        self.codings[name] = _Shown(self._variable(said["variable"], at)).changed(keys)
        with located(at):
            self.codings[name].grouping(at)

    def sheet(self, listed: Listed) -> Sheet:
        at, said = listed.at, Keys(listed.said, KEYS, listed.at)
        with located(at):
            names = _names(said)
            self._check_about(said, names)
            lines = [self._grouping(name, said) for name in names]
            where = [self._filter(n, given, at) for n, given in _map(said, "where").items()]
            own = {kept.name: kept.lines[0].codes for kept in where}
            return Sheet(
                _text(said, "name") or "",
                tuple(g.among(own[g.name]) if g.name in own else g for g in lines),
                self._measure(said),
                tuple(kept for kept in where if kept.name not in {g.name for g in lines}),
                _text(said, "title") or "",
                Status(said.choice("status", [*Status], Status.WANTED)),
                _map(said, "options"),
            )

    def _variable(self, name: str, at: str) -> Variable:
        if name not in self.variables:
            raise DataError(f"{at} has an unknown variable {name!r}; {self._near(name)}")
        return self.variables[name]

    def _near(self, name: str) -> str:
        return near(name, (*self.variables, *self.codings))

    def _shown(self, name: str, at: str) -> _Shown:
        return self.codings.get(name) or _Shown(self._variable(name, at))

    def _check_about(self, said: Keys, names: Sequence[str]) -> None:
        """Levels, groups and hidden lines are of variables that the table shows."""
        for key in BY_VARIABLE:
            for name in _map(said, key):
                self._shown(name, said.where)
                if name not in names and key in ("groups", "cuts"):
                    raise DataError(
                        f"{said.where}: {key} are of {name!r}, which the table does not show."
                    )

    def _grouping(self, name: str, said: Keys) -> Grouping:
        own = {key: _map(said, key)[name] for key in BY_VARIABLE if name in _map(said, key)}
        total = said.get("total")
        if (total := total.get(name) if isinstance(total, dict) else total) is not None:
            own["total"] = total
        keys = Keys(own, CODING, f"{name!r} in {said.where}")
        return self._shown(name, said.where).changed(keys).grouping(said.where)

    def _filter(self, name: str, given: object, at: str) -> Grouping:
        """One line: categories, or lines of the hierarchy or coding, together."""
        shown = self._shown(name, at)
        labels = [label(one) for one in (given if isinstance(given, list) else [given])]
        if not labels or isinstance(given, dict):
            raise DataError(f"{at}: where {name} = {given!r} must be a list of categories.")
        every = dataclasses.replace(shown, hidden=(), levels=None, total=False).grouping(at)
        lines = {line.label: line.codes for line in every.lines}
        if name in self.variables:
            lines |= {c: frozenset([i]) for i, c in enumerate(shown.variable.categories)}
        codes: set[int] = set()
        for one in labels:
            if one not in lines:
                raise DataError(f"{at}: {name!r} has no category {one!r}; {near(one, lines)}")
            codes |= lines[one]
        return Grouping(shown.variable, (Line(" + ".join(labels), frozenset(codes)),))

    def _measure(self, said: Keys) -> Measure:
        given = {key: _text(said, key) for key in MEASURE}
        for key, column in given.items():
            if column and self.columns and column not in self.columns:
                raise DataError(
                    f"{said.where}: {key} is {column!r}, which is no column; "
                    f"{near(column, self.columns)}"
                )
        return Measure(**given)


def _names(said: Keys) -> list[str]:
    """Those of the variables, down and across."""
    if "variables" in said:
        if "rows" in said or "columns" in said:
            raise DataError(f"{said.where} has variables and rows or columns; take one out.")
        given = said.get("variables")
        names = product(given) if isinstance(given, str) else given
    else:
        names = said.listed("rows") + said.listed("columns")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataError(f"{said.where}: variables = {names!r} must be like 'Region*Sector'.")
    if not names:
        raise DataError(
            f"{said.where} has no variables; write it like variables = 'Region*Sector'."
        )
    return names


def _text(said: Keys, key: str) -> str | None:
    given = said.text(key, "write a text")
    if given is not None and not given.strip():
        said.refuse(key, "write a text")
    return given


def _map(said: Keys, key: str) -> dict[str, Any]:
    return said.table(key, "write it by variable, like {Age = ...}")
