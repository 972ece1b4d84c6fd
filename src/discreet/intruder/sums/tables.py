"""All components of a publication together, and a check of each table that is found."""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np

from discreet.arrays import Floats
from discreet.effort import Clock
from discreet.errors import InconsistentRelease
from discreet.intruder.sums.ends import NEAR, Ends
from discreet.intruder.sums.reduced import Reduced, reduced
from discreet.release.printed import Printed
from discreet.solver import MOST, Limit


class Tables:
    """The ends of every component: a target's interval is the sum of its shares' intervals.

    Nothing is seen unless one table of all components was found and fits every printed cell.
    """

    def __init__(
        self, reduced: Reduced, clock: Clock, nodes: int, first: Floats | None = None
    ) -> None:
        self.reduced, self.clock, self.nodes = reduced, clock, nodes
        whole = reduced.printed.whole
        self.ends = [Ends(component, whole, reduced.slack) for component in reduced.components]
        start = None if first is None else reduced.solution(first)
        for ends in self.ends:
            begin = None if start is None else start[ends.component.columns]
            if not ends.begin(self.limit, begin):
                raise InconsistentRelease(
                    "no table has what is printed; correct the printed values."
                )
        self.fit = self._complete([ends.base for ends in self.ends], 1e-5)
        self.seen = whole and self._complete([ends.whole_base for ends in self.ends], 0.0)
        if self.seen if whole else self.fit:
            for ends in self.ends:
                ends.check = partial(self._fits, ends)

    @property
    def limit(self) -> Limit:
        return Limit(nodes=self.nodes, seconds=max(self.clock.left, 1e-3))

    def _complete(self, bases: list[Floats | None], near: float) -> bool:
        x = np.zeros(self.reduced.columns)
        for ends, base in zip(self.ends, bases, strict=True):
            if base is None:
                return False
            x[ends.component.columns] = base
        largest = float(np.abs(x).max(initial=1.0))
        return self.reduced.fits(self.reduced.table(x), max(near * largest, self.reduced.slack))

    def _fits(self, ends: Ends, x: Floats, near: float) -> bool:
        """One component's solution, the first table elsewhere: does every printed cell fit?"""
        if not ends.component.holds(x, near):
            return False
        y = self._first.copy()
        y[ends.component.columns] = x
        wide = 10 * NEAR * max(one.unit for one in self.ends) if near else 0.0
        return self.reduced.fits(self.reduced.table(y), max(wide, self.reduced.slack))

    @cached_property
    def _first(self) -> Floats:
        x = np.zeros(self.reduced.columns)
        for ends in self.ends:
            x[ends.component.columns] = ends.whole_base if ends.whole else ends.base
        return x

    def total(self, name: str) -> Floats:
        """An end of all targets: the constant and what each component adds."""
        found = self.reduced.constant.copy()
        for ends in self.ends:
            found[ends.component.targets] += getattr(ends, name)
        return found


def any_table(printed: Printed, clock: Clock) -> Floats:
    """Fine cells of one table that was printed so."""
    from scipy.sparse import csr_matrix

    small = reduced(printed, csr_matrix((0, printed.system.columns)))
    tables = Tables(small, clock, MOST)
    x = np.zeros(small.columns)
    for ends in tables.ends:
        base = ends.whole_base if printed.whole else ends.base
        if base is None:
            clock.check("looking for a first table")
            raise InconsistentRelease("no table has these values; correct them.")
        x[ends.component.columns] = base
    return small.table(x)
