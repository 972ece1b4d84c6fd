"""Which cells the rules of a policy protect, and how far their intervals must reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from nested_batches import FAMILY, Asked, Batch, cut
from nested_known import Cell
from numpy.typing import NDArray

MOST_CELLS = 6_000
Measure = tuple[str | None, str | None]  # value, weight
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Guarded:
    """A cell that a rule protects: how far its interval must reach, or be wide, or not tell."""

    rule: str
    cell: Cell
    value: float
    printed: bool
    low: float = np.nan
    high: float = np.nan
    width: float = 0.0
    group: Cell | None = None  # of attributes: no share of it
    alone: int = -1  # the only contributor


class Rules:
    """What a policy promises of a batch."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch

    def amounts(self, measure) -> np.ndarray:
        value, weight = measure
        data = self.batch.data
        found = data[value].to_numpy(float) if value else np.ones(len(data))
        return found * (data[weight].to_numpy(float) if weight else 1.0)

    def _tables(self, measure) -> list[Asked]:
        return [t for t in self.batch.tables if t.measure == measure]

    def _lines(self, measure) -> dict[frozenset, Cell]:
        """All that the list asks for, printed or not."""
        found = {}
        for table in self._tables(measure):
            for cell in cells_of(self.batch, table):
                found[frozenset(cell.items())] = cell
        return found

    def guarded(self, measure: Measure) -> Iterator[Guarded]:
        """Of counts or sums."""
        yield from self._sums(measure) if measure[0] else self._counts(measure)

    def _columns(self, measure) -> list[str]:
        return list(
            dict.fromkeys(c for t in self._tables(measure) for c in (*t.columns, *(t.where or ())))
        )

    def _classes(self, column: str) -> list[frozenset[str]]:
        """What the tables of a measure can tell apart of a column."""
        if column != "Age":
            return [frozenset([one]) for one in self.batch.seen(column)]
        return list(cut(self.batch.seen(column), self.batch.cuts).values())

    def _below(self, columns: list[str]) -> Iterator[Cell]:
        """Cells by all of some columns that somebody is in."""
        classes = {}
        for column in columns:
            for own in self._classes(column):
                classes |= {(column, one): own for one in own}
        rows = set(zip(*(self.batch.text[c] for c in columns), strict=True))
        held = {tuple(classes[c, one] for c, one in zip(columns, row, strict=True)) for row in rows}
        for row in sorted(held, key=lambda one: [sorted(s) for s in one]):
            yield dict(zip(columns, row, strict=True))

    def _identifying(self, columns: list[str]) -> list[str]:
        roles = self.batch.roles
        return [c for c in columns if roles.get(c, "unstated") in ("identifying", "unstated")]

    def _counts(self, measure) -> Iterator[Guarded]:
        policy, amounts = self.batch.policy, self.amounts(measure)
        least, width = policy["published.least"], policy["small.width"]
        most = policy.get("small.most", max(1, least - 1))
        lines, columns = self._lines(measure), self._columns(measure)
        identifying = self._identifying(columns)
        for cell in lines.values():
            here = self.batch.people(cell)
            number, value = int(here.sum()), float(amounts[here].sum())
            if 0 < number < least:
                told = 1.0 if measure[1] is None else 1e-3
                yield Guarded("published cells", cell, value, True, width=told)
            named = [c for c in cell if cell[c] != frozenset(self.batch.seen(c))]
            if 0 < number <= most and named and not set(named) - set(identifying):
                yield Guarded("small counts", cell, value, True, width=width)
        if identifying and measure[1] is None:
            for cell in self._below(identifying):
                here = self.batch.people(cell)
                if 0 < here.sum() <= most:
                    yield Guarded("small counts", cell, float(here.sum()), False, width=width)
        if policy["attribute.check"] and measure[1] is None:
            yield from self._attributes(measure, columns, lines)

    def _attributes(self, measure, columns, lines) -> Iterator[Guarded]:
        policy, roles = self.batch.policy, self.batch.roles
        share = policy["attribute.share"]
        for sensitive in columns:
            if roles.get(sensitive, "unstated") not in ("sensitive", "unstated"):
                continue
            seen = self._classes(sensitive)
            told = [frozenset(["yes"])] if sensitive == "Ill" else seen
            told = [one for one in told if one in seen and len(seen) > 1]
            others = self._identifying([c for c in columns if c != sensitive])
            groups: dict[frozenset, tuple[Cell, bool]] = {}
            for many in range(min(policy["attribute.order"], len(others)) + 1):
                for some in combinations(others, many):
                    for cell in self._below(list(some)) if some else [{}]:
                        groups[frozenset(cell.items())] = (cell, False)
            for cell in lines.values():
                named = [c for c in cell if cell[c] != frozenset(self.batch.seen(c))]
                if sensitive not in named and not set(named) - set(others):
                    own = {c: cell[c] for c in named}
                    groups[frozenset(own.items())] = (own, True)
            for group, printed in groups.values():
                here = self.batch.people(group)
                if not here.any():
                    continue
                for category in told:
                    inside = here & self.batch.people({sensitive: category})
                    cell = {**group, sensitive: category}
                    if inside.sum() >= share * here.sum() - 1e-9:
                        count = float(inside.sum())
                        yield Guarded("attribute", cell, count, printed, width=share, group=group)
                    elif not inside.any() and policy["attribute.exclusion"]:
                        yield Guarded("exclusion", cell, 0.0, printed, group=group)

    def _owners(self, measure) -> np.ndarray:
        data = self.batch.data
        holding = next((t.holding for t in self._tables(measure) if t.holding), None)
        if holding is None:
            return np.arange(len(data))
        names = data[holding].to_numpy()
        codes = {name: i for i, name in enumerate(sorted(set(names)))}
        return np.array([len(data) + codes[n] if n else i for i, n in enumerate(names.tolist())])

    def contributions(self, measure, here: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Owners and what each has of a cell, unweighted, the largest first; nothing is none."""
        owners, amounts = self._owners(measure)[here], self.amounts((measure[0], None))[here]
        names, place = np.unique(owners, return_inverse=True)
        own = np.bincount(place, amounts, len(names))
        order = np.argsort(-own, kind="stable")
        names, own = names[order], own[order]
        return names[own > 0], own[own > 0]

    def _sums(self, measure) -> Iterator[Guarded]:
        """Lines, cells that the codings of a table tell apart together, and those of all columns.

        The last are `joint` where no table shows all that they divide.
        """
        every = {key: (cell, True, "") for key, cell in self._lines(measure).items()}
        columns = self._columns(measure)
        for table in self._tables(measure):
            own = {FAMILY[c] for c in (*table.columns, *(table.where or ()))}
            for cell in self._below([c for c in columns if FAMILY[c] in own]):
                every.setdefault(frozenset(cell.items()), (cell, False, ""))
        for cell in self._below(columns):
            every.setdefault(frozenset(cell.items()), (cell, False, " joint"))
        for cell, printed, joint in list(every.values())[:MOST_CELLS]:
            here = self.batch.people(cell)
            if here.any():
                yield from self._protected(measure, cell, printed, here, joint)

    def _protected(self, measure, cell, printed, here, joint) -> Iterator[Guarded]:
        policy = self.batch.policy
        names, own = self.contributions(measure, here)
        least, total = policy["contributors.least"], float(self.amounts(measure)[here].sum())
        firms = len(set(self._owners(measure)[here].tolist()))
        if not len(own):
            if 0 < firms < least and printed:
                yield Guarded("zeros", cell, 0.0, printed, width=1e-3)
            return
        alone = int(names[0]) if len(names) == 1 else -1

        def reaching(rule: str, reach: float) -> Guarded:
            low, high = max(0.0, total - reach), total + reach
            return Guarded(f"{rule}{joint}", cell, total, printed, low, high, alone=alone)

        if len(own) < least:
            yield reaching("contributors.least", 0.1 * total)
        p, q = policy["contributors.p"], policy.get("contributors.q", 100.0)
        coalition = policy.get("contributors.coalition", 1)
        need = p / q * own[0] - (total - own[: 1 + coalition].sum())
        if p and need > 1e-6 * max(total, 1.0):
            yield reaching("contributors.p", need)
        if n := policy.get("contributors.n", 0):
            need = 100 / policy["contributors.k"] * own[:n].sum() - total
            if need > 1e-6 * max(total, 1.0):
                yield reaching("contributors.n", need)


def cells_of(batch: Batch, table: Asked) -> Iterator[Cell]:
    """Every cell that a table of the list has."""
    lines = [batch.lines(table, column).values() for column in table.columns]
    where = {c: frozenset(chosen) for c, chosen in (table.where or {}).items()}
    for some in product(*lines):
        yield {**dict(zip(table.columns, some, strict=True)), **where}
