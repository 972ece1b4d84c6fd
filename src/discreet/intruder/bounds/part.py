"""A part of a release, bounded as a whole."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.effort import UNLIMITED, Clock, Seconds
from discreet.intruder.bounds.linear import Program
from discreet.intruder.bounds.margins import margin_bounds, upper_bounds
from discreet.intruder.bounds.opencells import MOST_CELLS, MOST_OPEN, OpenCells, possible
from discreet.intruder.bounds.result import NONE_HIGH, NONE_LOW
from discreet.intruder.bounds.shuttle.lattice_layout import Layout
from discreet.intruder.bounds.shuttle.shuttle import Shuttle, bytes_needed
from discreet.intruder.bounds.work import Work
from discreet.intruder.witness.seen import Seen
from discreet.release.release import Release
from discreet.solver import Limit
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.keys import Codes, lookup, unravel
from discreet.table.table import Table

if TYPE_CHECKING:
    from discreet.intruder.bounds.projection.projection import Projection

CLOSED = "closed form"
QUICK = 500_000
HEAVY = 10**11  # cells squared times programs
DRAWS, MOST_DRAWN = 200, 1 << 16
SLICED = 1 << 12
MOST_PROJECTED = 1 << 20
BRIEF = 50_000  # cells of a part times cells to prove, where that decides nothing


class Found(NamedTuple):
    """Intervals, the extreme counts in tables, of whole numbers and of any, and the method."""

    lower: Ints
    upper: Ints
    seen_low: Ints
    seen_high: Ints
    fit_low: Ints
    fit_high: Ints
    method: str

    @classmethod
    def outer(cls, lower: Ints, upper: Ints, method: str) -> Found:
        """Without a table; but a single value that is left is that of every table."""
        sure = lower == upper
        low, high = np.where(sure, lower, NONE_LOW), np.where(sure, upper, NONE_HIGH)
        return cls(lower, upper, low, high, low, high, method)

    def fitted(self, low: Ints, high: Ints) -> Found:
        """With what further tables reach, which need not be whole."""
        return self._replace(
            fit_low=np.minimum(self.fit_low, low), fit_high=np.maximum(self.fit_high, high)
        )

    def take(self, rows: Ints) -> Found:
        """Some of the cells."""
        lower, upper, *tables, method = self
        low, high, fit_low, fit_high = (ends[rows] for ends in tables)
        return Found(lower[rows], upper[rows], low, high, fit_low, fit_high, method)

    def closer(self, rows: Ints, other: Found) -> Found:
        """With further bounds of some of the cells, and what tables reach there."""
        lower, upper, low, high, fit_low, fit_high = (end.copy() for end in self[:-1])
        for least, more in ((low, other.seen_low), (fit_low, other.fit_low), (upper, other.upper)):
            least[rows] = np.minimum(least[rows], more)
        for most, more in ((high, other.seen_high), (fit_high, other.fit_high)):
            most[rows] = np.maximum(most[rows], more)
        lower[rows] = np.maximum(lower[rows], other.lower)
        return Found(lower, upper, low, high, fit_low, fit_high, other.method)

    def seen(self, low: Ints, high: Ints) -> Found:
        """With what further tables of whole numbers show."""
        return self._replace(
            seen_low=np.minimum(self.seen_low, low), seen_high=np.maximum(self.seen_high, high)
        ).fitted(low, high)


class Proof(NamedTuple):
    """How to look for witnesses: from a table that fits, until cells spread by `beta`.

    Only who holds the data has such a table; it decides what is proven, never what is bounded.

    >>> import discreet as dc
    >>> table = dc.load("example:czech")
    >>> release = dc.Release.margins(table, "A*B*C + C*D*E + A*E*F")
    >>> [*{str(status) for status in dc.bounds(release, method="shuttle").status()}]
    ['outer only']
    >>> found = dc.bounds(release, method="shuttle", proof=dc.frontiers.Proof(table, beta=3))
    >>> sorted({str(status) for status in found.status()})
    ['sharp', 'witnessed']
    """

    start: Table
    beta: int = 3
    effort: float = 1.0
    seconds: Seconds = math.inf
    together: bool = False

    def narrow(self, lower: Ints, upper: Ints) -> bool:
        """Are the cells judged together, and is one of them too narrow whatever is proven?"""
        return self.together and bool((upper - lower < self.beta).any())


class Question(NamedTuple):
    """How intervals are asked for; see `Bounder.bounds`."""

    proof: Proof | None
    among: int | None
    width: int | None


class Part:
    """A release that is bounded as a whole, with what was built to bound it."""

    def __init__(self, release: Release) -> None:
        self.release = release
        self._shuttle: Shuttle | None = None
        self._projection: Projection | None = None
        self.looked = False  # for tables, in haste

    @cached_property
    def program(self) -> Program:
        return Program(OpenCells.of(self.release))

    @cached_property
    def drawable(self) -> bool:
        """Is it decomposable, and small enough that tables which fit are quickly drawn?"""
        plain = self.possible <= MOST_DRAWN and not self.release.known
        return plain and self.release.formula.is_decomposable

    @cached_property
    def drawn(self) -> NDArray[np.int64]:
        """Tables that fit, one a row of the program's cells, where they are quickly drawn."""
        cells = self.program.cells
        if not self.drawable:
            return np.zeros((0, len(cells.codes)), np.int64)
        from discreet.intruder.posterior.exact.decomposable import draw

        wanted = Cells(cells.variables, cells.codes, np.zeros(len(cells.codes), np.int64))
        return draw(self.release, wanted, draws=DRAWS).astype(np.int64)

    def exact(self, names: tuple[str, ...], codes: Codes) -> Found | None:
        """The counts, if they are released."""
        if not self.release.formula.contains(names):
            return None
        value = self.release.table(names).lookup(codes)
        return Found.outer(value, value, CLOSED)

    def best(self, targets: int, most_bytes: int, among: int = 0) -> str:
        """Programs if they are quick for all they are `among`; the shuttle; the margins alone."""
        shape = self.release.axes.sizes
        cells = math.prod(shape)
        quick = self.possible * targets <= QUICK and self.possible**2 * among <= HEAVY
        if self.possible <= MOST_OPEN and quick:
            return "integer"
        if bytes_needed(Layout.of(shape), self.release.total or 0) <= most_bytes:
            return "shuttle"
        linear = cells <= MOST_CELLS and targets * self.possible <= 100 * QUICK
        return "linear" if linear else "margins"

    @cached_property
    def possible(self) -> int:
        """How many cells no known zero rules out."""
        shape = self.release.axes.sizes
        if not self.release.zeros or math.prod(shape) > MOST_CELLS:
            return math.prod(shape)
        return int(np.count_nonzero(possible(self.release)))

    def by_programs(
        self,
        names: tuple[str, ...],
        codes: Codes,
        branch: Limit | None,
        clock: Clock = UNLIMITED,
        start: Table | None = None,
    ) -> Found:
        """Linear programs, and integer ones; from `start`, a table that fits, others are found."""
        program = self.program
        least, most = np.zeros(len(codes), np.int64), self.most(names, codes)
        if self._shuttle is not None:
            least, upper = self._shuttle.bounds(names, codes)
            most = np.minimum(most, upper)
        seen = None
        if branch and start is not None:
            seen = Seen.of(self.release, start.margin(self.release.names))
        found = program.bounds(names, codes, least, most, branch=branch, clock=clock, seen=seen)
        return Found(*found, "integer" if branch and program.whole else "linear")

    def by_shuttle(self, names: tuple[str, ...], codes: Codes, most_bytes: int) -> Found:
        return Found.outer(*self._settled(most_bytes).bounds(names, codes), "shuttle")

    def _settled(self, most_bytes: int) -> Shuttle:
        if self._shuttle is None:
            self._shuttle = Shuttle(self.release, most_bytes=most_bytes)
        return self._shuttle

    @cached_property
    def projectable(self) -> bool:
        """Can projections hold it: a box and margins, of a table that fits in memory?"""
        cells = self.release.axes.cells
        names = len(self.release.names)
        return cells <= MOST_PROJECTED and all(len(k.cell) == names for k in self.release.ranges)

    @cached_property
    def step(self) -> int:
        """Multiplications of a step of a projection."""
        from discreet.intruder.bounds.projection.coordinates import Coordinates

        return Coordinates.of(self.release).cost

    def projection(self, most_bytes: int, work: Work | None = None) -> Projection:
        """The tables that fit, for linear bounds of any size."""
        if self._projection is None:
            from discreet.intruder.bounds.projection.projection import CENTER_STEPS, Projection

            most = CENTER_STEPS if work is None else min(work.left // self.step, CENTER_STEPS)
            self._projection = Projection.of(self.release, *self.box(most_bytes), int(most))
        return self._projection

    def box(self, most_bytes: int) -> tuple[Ints, Ints]:
        """Ends of every cell: by the shuttle if it fits, else by the released counts."""
        shape = self.release.axes.sizes
        if bytes_needed(Layout.of(shape), self.release.total or 0) <= most_bytes:
            sides = self._settled(most_bytes).arrays()
            cells = tuple(slice(size) for size in shape)
            return sides[0][cells].astype(np.int64), sides[1][cells].astype(np.int64)
        codes = unravel(np.arange(math.prod(shape)), shape)
        found = self.by_margins(self.release.names, codes)
        low, high = found.lower.reshape(shape), found.upper.reshape(shape)
        for known in self.release.ranges:
            at = dict(known.cell)
            place = tuple(v.code(at[v.name]) for v in self.release.variables)
            low[place], high[place] = max(low[place], known.lower), min(high[place], known.upper)
        return low, high

    def by_projection(
        self,
        names: tuple[str, ...],
        codes: Codes,
        width: int | None,
        most_bytes: int,
        clock: Clock = UNLIMITED,
        work: Work | None = None,
    ) -> Found:
        """Linear bounds; with `width` only whether cells keep it; as far as `work` goes."""
        from discreet.intruder.bounds.projection.reach import reach, reach_sums

        projection = self.projection(most_bytes, work)
        codes, inverse = np.unique(codes, axis=0, return_inverse=True)
        lower, upper = self._outer(names, codes, most_bytes)
        shape = self.release.axes.sizes
        places = self.release.axes.places(names)
        if len(names) == len(shape):
            order = np.argsort(places)
            cells = np.ravel_multi_index(tuple(codes[:, order].T.astype(np.int64)), shape)
            found = reach(projection, cells, lower, upper, width, clock=clock, work=work)
        else:
            sizes = [shape[place] for place in places]
            every = unravel(np.arange(math.prod(shape)), shape)[:, places]
            group = lookup(codes, sizes, every)
            found = reach_sums(projection, group, lower, upper, width, clock=clock, work=work)
        lower, upper = found.lower, found.upper
        if self._shuttle is not None:
            self._shuttle.narrow(names, codes, lower, upper)
            lower, upper = self._shuttle.bounds(names, codes)
        ends = np.maximum(found.fit_low, lower), np.minimum(found.fit_high, upper)
        return Found.outer(lower, upper, "linear").fitted(*ends).take(inverse)

    def _outer(self, names: tuple[str, ...], codes: Codes, most_bytes: int) -> tuple[Ints, Ints]:
        shape = self.release.axes.sizes
        if bytes_needed(Layout.of(shape), self.release.total or 0) <= most_bytes:
            return self._settled(most_bytes).bounds(names, codes)
        found = self.by_margins(names, codes)
        return found.lower, found.upper

    def by_margins(self, names: tuple[str, ...], codes: Codes) -> Found:
        formula = self.release.formula
        if len(names) == len(formula.names):
            lower, upper = margin_bounds(self.release, formula, codes)
        else:
            lower, upper = np.zeros(len(codes), np.int64), self.most(names, codes)
        upper = np.where(self.release.closed(codes, names), 0, upper)
        return Found.outer(lower, upper, "margins")

    def witnessed(self, found: Found, codes: Codes, proof: Proof, *, narrow: bool = False) -> Found:
        """Look for tables that spread the cells which are wide enough but not yet proven to be.

        Beside a `narrow` one that decides, not for long.
        """
        low, high = found.seen_low.copy(), found.seen_high.copy()

        def left() -> Ints:
            spread = high - np.minimum(low, high)
            return np.flatnonzero((found.upper - found.lower >= proof.beta) & (spread < proof.beta))

        if not len(left()):
            return found
        from discreet.intruder.witness.search import witnesses
        from discreet.intruder.witness.slices import slice_witnesses

        start, clock = proof.start.margin(self.release.names), Clock.of(proof.seconds)
        tables, rows = Seen.of(self.release, start), left()
        brief = narrow and self.release.axes.cells * len(rows) > BRIEF
        if tables is not None:
            for row in () if brief else rows.tolist():
                spread_seen(tables, codes[row], int(found.lower[row]), int(found.upper[row]), proof)
            ends = tables.ends(self.release.names, codes[rows])
            low[rows], high[rows] = np.minimum(low[rows], ends[0]), np.maximum(high[rows], ends[1])
        # slices hold most of a small table; of a large one they hold hardly anybody
        small = self.release.axes.cells <= SLICED
        for search in (slice_witnesses, witnesses)[:: 1 if small else -1]:
            rows = left()
            if brief or not len(rows):
                break
            seen = search(
                self.release,
                start,
                Cells(self.release.variables, codes[rows], np.zeros(len(rows), np.int64)),
                beta=proof.beta,
                lower=found.lower[rows],
                upper=found.upper[rows],
                effort=proof.effort,
                seconds=clock,
            )
            low[rows] = np.minimum(low[rows], seen.low)
            high[rows] = np.maximum(high[rows], seen.high)
        return found.seen(low, high)

    def most(self, names: tuple[str, ...], codes: Codes) -> Ints:
        inside = [[n for n in margin if n in names] for margin in self.release.formula.margins]
        formula = Formula.of([margin for margin in inside if margin], names).frontier
        return upper_bounds(self.release, formula, codes)


def spread_seen(tables: Seen, code: Codes, lower: int, upper: int, proof: Proof) -> None:
    """Look for tables that spread a cell, by one person more or less at a time."""
    inside = tables.inside(tables.release.names, code)
    values = tables.tables[:, np.flatnonzero(inside)[0]]
    low, high, cost = int(values.min()), int(values.max()), inside.astype(np.int64)
    while high - low < proof.beta and low > lower and tables.reach(cost, low - 1):
        low -= 1
    while high - low < proof.beta and high < upper and tables.reach(-cost, -high - 1):
        high += 1
