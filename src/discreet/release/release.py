"""What is public: margins' values, single cells, ranges, zeros; never the confidential table."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.codebook import Variable
from discreet.errors import DataError, InconsistentRelease
from discreet.look.notebook import Rows
from discreet.look.result import Shown
from discreet.look.words import plural
from discreet.release.large import open_to, threshold
from discreet.table.axes import OverAxes
from discreet.table.cells import Cells
from discreet.table.formula import Formula, as_formula
from discreet.table.impossible import Combination, codes_of
from discreet.table.keys import Codes, keys, lookup
from discreet.table.levels import with_levels
from discreet.table.table import Table

STRUCTURAL = "structural zero"
PUBLISHED = "published"
BELOW = "not published, so below the large ones"


@dataclass(frozen=True)
class Known(Shown):
    """A cell, of the table or of a margin, that is known to lie between two values."""

    cell: tuple[tuple[str, str], ...]
    lower: int
    upper: int
    why: str

    def __str__(self) -> str:
        where = ", ".join(f"{name}={category}" for name, category in self.cell)
        value = f"{self.lower}" if self.lower == self.upper else f"{self.lower}-{self.upper}"
        return f"{where}: {value} ({self.why})"


@dataclass(frozen=True, eq=False)
class Release(Shown, OverAxes):
    """Everything that an intruder is given: axes, the maximal margins, and what else is known.

    >>> from discreet.table.load import load
    >>> Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    Release(Race*Income + Gender*Income: 742 people, 5 of 7 margins)

    `ceiling` says that cells which are not published are at most this; where the margins leave room
    for more, it is among what is known.
    """

    variables: tuple[Variable, ...]
    tables: tuple[Table, ...]
    known: tuple[Known, ...] = ()
    ceiling: int | None = None

    def _shown_rows(self, most: int) -> Rows:
        """The margins, without their counts: they are public only once they are published."""
        shown = self.tables[:most]
        columns = {
            "margin": ["*".join(table.names) for table in shown],
            "cells": [table.size for table in shown],
        }
        return Rows(columns, len(self.tables))

    @classmethod
    def margins(cls, table: Table, formula: str | Formula | Iterable[Iterable[str]]) -> Release:
        """The margins of `table` that `formula` names, and what is impossible in it."""
        wanted = as_formula(formula, table.names)
        if not wanted.sets:
            raise DataError("the release contains nothing; name at least one margin.")
        release = cls(table.variables, tuple(table.margin(m) for m in wanted.frontier.margins))
        return release.excluding(table)

    @classmethod
    def of(cls, tables: Iterable[Table], variables: Iterable[Variable] = ()) -> Release:
        """Tables that are public already; they must agree on what they share."""
        tables = tuple(tables)
        if not tables:
            raise DataError("the release contains nothing; give at least one table.")
        axes = {variable.name: variable for variable in variables}
        for variable in (v for table in tables for v in table.variables):
            known = axes.setdefault(variable.name, variable)
            if known.categories != variable.categories:
                raise InconsistentRelease(
                    f"the released margins disagree on the categories of {variable.name!r}: "
                    f"{', '.join(known.categories)} and {', '.join(variable.categories)}; "
                    "give them the same codebook."
                )
        for a, b in combinations(tables, 2):
            _check_agreement(a, b)
        frontier = Formula.of([t.names for t in tables], tuple(axes)).frontier
        chosen = [next(t for t in tables if set(t.names) == set(m)) for m in frontier.margins]
        return cls(tuple(axes.values()), tuple(chosen))

    @property
    def total(self) -> int | None:
        return self.tables[0].total if self.tables else None

    @cached_property
    def formula(self) -> Formula:
        """The maximal margins."""
        return Formula.of([table.names for table in self.tables if table.names], self.names)

    def table(self, names: Iterable[str]) -> Table:
        """A released margin, or one that follows by adding up."""
        names = tuple(names)
        wanted = self.axes.set_of(names)
        holders = [t for s, t in self._holders if wanted & ~s == 0]
        if not holders:
            raise DataError(f"{'*'.join(names)} is not in the release {self.formula}.")
        return min(holders, key=len).margin(names)

    @cached_property
    def zeros(self) -> tuple[tuple[tuple[str, ...], Codes], ...]:
        """The known zeros by their variables: their codes, in row-major order."""
        axes = {variable.name: variable for variable in self.variables}
        groups: dict[tuple[str, ...], list[Combination]] = {}
        for known in self.known:
            if known.upper == 0:
                cell = tuple(sorted(known.cell, key=lambda pair: self.axes.place[pair[0]]))
                groups.setdefault(tuple(name for name, _ in cell), []).append(cell)
        found = []
        for names, group in groups.items():
            variables = [axes[name] for name in names]
            codes = codes_of(variables, group)
            order = np.argsort(keys(codes, [v.size for v in variables]))
            found.append((names, codes[order]))
        return tuple(found)

    @property
    def beside(self) -> str:
        """`2 known cells`: what it tells beside its margins and what nobody can have."""
        told = sum(known.why != STRUCTURAL for known in self.known)
        if self.ceiling is not None:
            return f"every count of {self.ceiling + 1:,} or more"
        return plural(told, "known cell") if told else ""

    @cached_property
    def ranges(self) -> tuple[Known, ...]:
        """What is known of cells that need not be empty."""
        return tuple(known for known in self.known if known.upper > 0)

    @cached_property
    def cell_ranges(self) -> tuple[Codes, NDArray[np.int64], NDArray[np.int64]]:
        """The ranges of cells of the whole table: their codes in row-major order, and both ends."""
        whole = [known for known in self.ranges if len(known.cell) == len(self.variables)]
        place = self.axes.place
        cells = [tuple(sorted(known.cell, key=lambda pair: place[pair[0]])) for known in whole]
        codes = codes_of(self.variables, cells)
        _, first, group = np.unique(
            keys(codes, self.axes.sizes), return_index=True, return_inverse=True
        )
        lower = np.zeros(len(first), np.int64)
        upper = np.full(len(first), np.iinfo(np.int64).max)
        np.maximum.at(lower, group, np.array([known.lower for known in whole], np.int64))
        np.minimum.at(upper, group, np.array([known.upper for known in whole], np.int64))
        return codes[first], lower, upper

    @cached_property
    def sum_ranges(self) -> tuple[Known, ...]:
        """The ranges of cells of margins."""
        return tuple(known for known in self.ranges if len(known.cell) < len(self.variables))

    @cached_property
    def single_cells(self) -> tuple[Cells, ...]:
        """The cells that were published one by one, by their variables."""
        axes = {variable.name: variable for variable in self.variables}
        groups: dict[tuple[str, ...], list[tuple[list[int], int]]] = {}
        for known in self.known:
            if known.why == PUBLISHED:
                cell = sorted(known.cell, key=lambda pair: self.axes.place[pair[0]])
                codes = [axes[name].code(category) for name, category in cell]
                groups.setdefault(tuple(n for n, _ in cell), []).append((codes, known.upper))
        return tuple(
            Cells(
                tuple(axes[name] for name in names),
                np.array([codes for codes, _ in group], np.uint32).reshape(len(group), len(names)),
                np.array([count for _, count in group], np.int64),
            )
            for names, group in groups.items()
        )

    def closed(self, codes: Codes, names: Iterable[str] | None = None) -> NDArray[np.bool_]:
        """Which cells, over `names` or all variables, a known zero rules out."""
        place = {n: i for i, n in enumerate(self.names if names is None else names)}
        size = {variable.name: variable.size for variable in self.variables}
        found = np.zeros(len(codes), bool)
        for about, zeros in self.zeros:
            if all(name in place for name in about):
                mine = codes[:, [place[name] for name in about]]
                found |= lookup(zeros, [size[name] for name in about], mine) >= 0
        return found

    @cached_property
    def _holders(self) -> list[tuple[int, Table]]:
        """Each table with its set of variables."""
        return [(self.axes.set_of(table.names), table) for table in self.tables]

    # What else is known; each returns a new release

    def publish(self, cell: Mapping[str, object], value: int) -> Release:
        """A single published cell."""
        return self._with(cell, value, value, PUBLISHED)

    def insider(self, cell: Mapping[str, object], value: int) -> Release:
        """A cell that an insider knows."""
        return self._with(cell, value, value, "known to an insider")

    def between(self, cell: Mapping[str, object], lower: int, upper: int) -> Release:
        """A cell known to lie in a range."""
        return self._with(cell, lower, upper, "range")

    def impossible(self, cell: Mapping[str, object]) -> Release:
        """A structural zero: a combination that nobody can have."""
        return self._with(cell, 0, 0, STRUCTURAL)

    def with_large(
        self,
        table: Table,
        least: int | None = None,
        *,
        number: int | None = None,
        told: bool = True,
    ) -> Release:
        """The cells of `table` with a count of `least` or more beside the margins, or the `number`
        largest, with those that tie.

        That a cell is not published then tells that its count is smaller: a ceiling on all others,
        unless how they were chosen is not `told` (Dobra, Erosheva & Fienberg 2002, section 1.7).

        >>> import discreet as dc
        >>> table = dc.load("example:tract")
        >>> release = dc.Release.margins(table, "Race*Income + Gender").with_large(table, 100)
        >>> len(release.single_cells[0]), release.ceiling, len(release.known)
        (3, 99, 3)
        """
        if (least is None) == (number is None):
            raise DataError("say from which count on cells are large, or how many: one of both.")
        seen = table.margin(self.names).reorder(self.names)
        if least is None:
            assert number is not None
            least = threshold(seen, number)
        if least < 1:
            raise DataError(f"large cells from a count of {least} on; give a number from 1 on.")
        large = seen.counts >= least
        codes, counts = seen.codes[large], seen.counts[large]
        fresh = [
            Known(self._cell(code), n, n, PUBLISHED)
            for code, n in zip(codes, counts.tolist(), strict=True)
        ]
        if not told:
            return dataclasses.replace(self, known=(*self.known, *fresh))
        most = least - 1
        others = open_to(self, codes, counts, most)
        fresh += [Known(self._cell(code), 0, most, BELOW) for code in others]
        ceiling = most if self.ceiling is None else min(most, self.ceiling)
        return dataclasses.replace(self, known=(*self.known, *fresh), ceiling=ceiling)

    def _cell(self, code: Codes) -> Combination:
        return tuple(
            (v.name, v.categories[c]) for v, c in zip(self.variables, code.tolist(), strict=True)
        )

    def with_levels(self, table: Table) -> Release:
        """The same over a table that has levels of its variables beside them."""
        tables = tuple(with_levels(each, each.names) for each in self.tables)
        return dataclasses.replace(self, variables=table.variables, tables=tables).excluding(table)

    def excluding(self, table: Table) -> Release:
        """All that is impossible in `table`, unless a released margin shows it."""
        known = {known.cell for known in self.known if known.upper == 0}
        fresh = [
            Known(combination, 0, 0, STRUCTURAL)
            for names, group in table.ruled_out.items()
            if all(name in self.axes.place for name in names) and not self.formula.contains(names)
            for combination in group
            if combination not in known
        ]
        return dataclasses.replace(self, known=(*self.known, *fresh)) if fresh else self

    def allowing(self, combinations: Iterable[Combination]) -> Release:
        """Without some of the combinations that were known to be impossible."""
        gone = set(combinations)
        left = tuple(k for k in self.known if k.why != STRUCTURAL or k.cell not in gone)
        return dataclasses.replace(self, known=left) if len(left) < len(self.known) else self

    def _with(self, cell: Mapping[str, object], lower: int, upper: int, why: str) -> Release:
        axes = {variable.name: variable for variable in self.variables}
        pairs = []
        for name, category in cell.items():
            if name not in axes:
                raise DataError(f"the release has no variable {name!r}; it has {', '.join(axes)}.")
            pairs.append((name, axes[name].categories[axes[name].code(category)]))
        known = Known(tuple(pairs), int(lower), int(upper), why)
        if not 0 <= lower <= upper or not pairs:
            raise InconsistentRelease(f"{known} is no range of counts; give 0 <= lower <= upper.")
        for table in self.tables:
            inside = {name: category for name, category in pairs if name in table.names}
            most = table.slice(**inside).total
            exact = len(inside) == len(pairs)
            if most < lower or (exact and most > upper):
                where = ", ".join(f"{n}={c}" for n, c in inside.items()) or "the total"
                side = "above" if most < lower else "below"
                raise InconsistentRelease(
                    f"{known} is {side} its margin: {where} is {most} in {'*'.join(table.names)}."
                )
        return dataclasses.replace(self, known=(*self.known, known))

    def __add__(self, other: Release) -> Release:
        """Two releases of the same table, both public."""
        joint = Release.of([*self.tables, *other.tables], (*self.variables, *other.variables))
        ceilings = [each for each in (self.ceiling, other.ceiling) if each is not None]
        known = tuple(dict.fromkeys(self.known + other.known))
        return dataclasses.replace(joint, known=known, ceiling=min(ceilings, default=None))

    def to_frames(self, kind: str = "pandas") -> dict[str, Any]:
        """Each maximal margin as a frame, zeros included."""
        return {"*".join(t.names): t.to_frame(kind, zeros=True) for t in self.tables}

    def __repr__(self) -> str:
        margins = sum(self.formula.by_order().values())
        shown = str(self.formula)
        if len(shown) > 60:
            shown = f"{len(self.tables)} maximal margins"
        more = f", {len(self.known)} cells known" if self.known else ""
        return (
            f"Release({shown}: {self.total or 0:,} people, "
            f"{margins:,} of {2 ** len(self.names) - 1:,} margins{more})"
        )


def _check_agreement(a: Table, b: Table) -> None:
    """Both tables give the same counts where they overlap."""
    shared = [name for name in a.names if name in b.names]
    x, y = a.margin(shared), b.margin(shared)
    if x == y:
        return
    here, there = "*".join(a.names), "*".join(b.names)
    if x.total != y.total:
        raise InconsistentRelease(
            f"the released margins disagree on the total: {here} sums to {x.total:,}, {there} to "
            f"{y.total:,}. Release margins of the same table, or round them with a controlled "
            "method."
        )
    union = np.unique(np.concatenate([x.codes, y.codes]), axis=0)
    row = union[np.argmax(x.lookup(union) != y.lookup(union))][None]
    cell = ", ".join(
        f"{v.name}={v.categories[c]}" for v, c in zip(x.variables, row[0], strict=True)
    )
    raise InconsistentRelease(
        f"the released margins disagree on {cell}: {here} gives {int(x.lookup(row)[0]):,}, {there} "
        f"{int(y.lookup(row)[0]):,}. Release margins of the same table."
    )
