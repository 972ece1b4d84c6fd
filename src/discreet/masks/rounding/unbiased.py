"""Controlled rounding without bias: random cycles of a network (Cox 1987, JASA 82:520).

Printed cells are sets of fine cells. If no two sets of one kind overlap without one holding the
other, for two kinds (rows and columns; a hierarchy crossed with plain columns), each kind is a
tree, a fine cell is an arc from its leaf in the one to its leaf in the other, and a table with its
totals is a circulation. A cycle of arcs between multiples is pushed up or down with odds that keep
every mean, until every arc is a multiple.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Ints
from discreet.errors import DataError, InconsistentRelease
from discreet.masks.rounding.simple import Steps, is_whole
from discreet.sheets.system import System
from discreet.solver import Ended, Program, Sums

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

FINE = 2**30  # parts of a base that amounts are taken to


@dataclass(frozen=True, eq=False)
class Circulation:
    """A table and its totals as a circulation; `arc` is that of each printed row.

    >>> from discreet.data.codebook import Variable
    >>> from discreet.sheets.grouping import Grouping
    >>> from discreet.sheets.sheet import Sheet
    >>> two = [Grouping.of(Variable(name, ("a", "b"))) for name in ("x", "y")]
    >>> system = System.of([Sheet("1", tuple(two))])
    >>> values = system.sums @ [1, 2, 3, 4]
    >>> shown = Circulation.of(system, values, 5).draw(np.random.default_rng(1))[0]
    >>> shown[system.places[0]].tolist()
    [[10.0, 5.0, 5.0], [0.0, 0.0, 0.0], [10.0, 5.0, 5.0]]
    """

    tail: Ints
    head: Ints
    nodes: int
    flow: Ints  # in units of base / full
    full: int
    base: float
    arc: Ints

    @classmethod
    def of(cls, system: System, values: ArrayLike, base: float) -> Circulation:
        """Raises where the printed cells are no network."""
        given = np.asarray(values, np.float64)
        if system.agree.shape[0]:
            raise DataError(
                "rounding without bias needs one table, and these tables share only some "
                "variables; round with unbiased=False."
            )
        fine = _fine(system, given)
        sets, row_set = _sets(system.sums)
        size = np.diff(sets.indptr)
        large = np.flatnonzero((size > 1) & (size < system.columns))
        both = (sets[large] @ sets[large].T).toarray()
        kind = _two_kinds(both, size[large])
        columns, number = system.columns, len(large)
        # nodes: the two roots, then the sets; arcs: fine cells, sets, the whole
        tail = np.empty(columns + number + 1, np.int64)
        head = np.empty_like(tail)
        tail[-1], head[-1] = 1, 0
        for which in (0, 1):
            own = np.flatnonzero(kind == which)
            own = own[np.argsort(-size[large][own], kind="stable")]
            leaf = np.full(columns, which, np.int64)
            for place in own:
                within = sets[large[place]].indices
                above, node = leaf[within[0]], place + 2
                ends = (above, node) if which == 0 else (node, above)
                tail[columns + place], head[columns + place] = ends
                leaf[within] = node
            if which == 0:
                tail[:columns] = leaf
            else:
                head[:columns] = leaf
        set_arc = np.full(len(size), columns + number, np.int64)
        set_arc[large] = columns + np.arange(number)
        single = np.flatnonzero(size == 1)
        set_arc[single] = sets.indices[sets.indptr[:-1][single]]
        Steps.of(fine, base)  # complains
        full = int(base) if is_whole(fine, base) else FINE
        units = np.round(fine / base * full).astype(np.int64)
        above = sets[large].astype(np.int64) @ units
        flow = np.concatenate([units, above, [units.sum()]])
        return cls(tail, head, number + 2, flow, full, base, set_arc[row_set])

    def draw(self, rng: np.random.Generator, times: int = 1) -> Floats:
        """Rounded printed cells, a row a draw."""
        from discreet._kernels.cycles import rounded

        arcs = len(self.tail)
        orders = np.argsort(rng.random((times, arcs)), axis=1)
        chances = rng.random((times, arcs))
        low, part = np.divmod(self.flow, self.full)
        up, good = rounded(self.tail, self.head, part, self.full, self.nodes, orders, chances)
        if not good:
            raise InconsistentRelease(
                "the values do not add up to their totals; correct them before rounding."
            )
        return np.asarray(self.base * (low + up)[:, self.arc], np.float64)


def _fine(system: System, values: Floats) -> Floats:
    """The fine cells as printed, or any that have these sums."""
    alone = np.diff(system.sums.indptr) == 1
    fine = np.full(system.columns, np.nan)
    fine[system.sums.indices[system.sums.indptr[:-1][alone]]] = values[alone]
    if np.isnan(fine).any():
        known = np.where(np.isnan(fine), 0.0, fine)
        most = np.where(np.isnan(fine), np.inf, fine)
        program = Program(
            system.columns, Sums.of(system.sums, values, values), lower=known, upper=most
        )
        found = program.solve()
        fine = fine if found.values is None or found.ended is not Ended.BEST else found.values
    if np.isnan(fine).any() or np.abs(system.sums @ fine - values).max() > 1e-6:
        raise InconsistentRelease(
            "the values do not add up to their totals; correct them before rounding."
        )
    return fine


def _sets(sums: csr_matrix) -> tuple[csr_matrix, Ints]:
    """The different sets of fine cells, and that of each row."""
    known: dict[bytes, int] = {}
    first: list[int] = []
    place = np.empty(sums.shape[0], np.int64)
    for row in range(sums.shape[0]):
        key = sums.indices[sums.indptr[row] : sums.indptr[row + 1]].tobytes()
        if key not in known:
            known[key] = len(first)
            first.append(row)
        place[row] = known[key]
    return sums[first], place


def _two_kinds(both: Floats, size: Ints) -> Ints:
    """Colours, 0 or 1, such that sets which cross differ."""
    smaller = np.minimum(size[:, None], size[None])
    crosses = (both > 0) & (both < smaller)
    kind = np.full(len(size), -1, np.int64)
    for begin in range(len(size)):
        if kind[begin] >= 0:
            continue
        kind[begin] = 0
        left = deque([begin])
        while left:
            here = left.popleft()
            for other in np.flatnonzero(crosses[here]):
                if kind[other] < 0:
                    kind[other] = 1 - kind[here]
                    left.append(int(other))
                elif kind[other] == kind[here]:
                    raise DataError(
                        "rounding without bias is available for two ways of which at most one "
                        "has levels, and these totals are no network; round with unbiased=False."
                    )
    return kind
