"""Candidate links weighed against each other: exact where few records are entangled, else beliefs.

All that is kept for a pair lies on a shelf, and is worked on in blocks of records.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Bools, Floats, Ints
from discreet.errors import DataError
from discreet.intruder.linkage.blocking import Candidates
from discreet.intruder.linkage.groups import Groups
from discreet.intruder.linkage.linked import Links
from discreet.intruder.linkage.shelf import Shelf, forget
from discreet.look.progress import Progress

EXACT = 1 << 29  # steps for one group of entangled records: a second's work
CLOSE, ROUNDS = 1e-6, 300
FEWEST, WORK = 30, 6 * 10**8  # rounds, and messages in all, before it stops as it is
SHOWN, AGREE = 10, 5  # rounds of balancing before and after clusters are summed
COLUMNS, ROWS = 10, 24  # of a cluster that is summed exactly within a larger group
FEW = 1_000_000  # edges that one thread handles as quickly
TINY = 1e-280
MOST_PAIRS = (1 << 31) - 1


def solve(
    found: Candidates,
    *,
    strangers: int = 0,
    exact: int = EXACT,
    columns: int = COLUMNS,
    shelf: Shelf | None = None,
) -> Links:
    """Probabilities of candidate links, if so many `strangers` are not in the source.

    A stranger looks like the mean of the sources and holds one record at most. Strangers tie all
    groups together; unless all are summed at once, each is summed with what the others tell them.
    """
    from discreet._kernels.beliefs import Side, Space, entangled, propagated
    from discreet._kernels.clusters import clustered

    shelf = shelf or Shelf()
    pairs = _Pairs.of(found, shelf)
    starts, places, column = found.starts, pairs.places, pairs.column
    many, edges = len(starts) - 1, len(places)
    times = found.released.times.astype(np.int64)
    copies = (times, np.append(found.source.times, strangers).astype(np.int64))
    inside = pairs.by_record(found.weights, copies[1])
    weighed = inside + found.dropped
    outside = found.bound / (1 - found.bound) + found.dropped / weighed  # sources left out
    others = len(found.source.first)
    stranger = 1 / (1 - found.bound) / int(copies[1][:others].sum())
    weights = shelf.empty(edges)
    for span, rows in pairs.blocks():
        np.divide(found.weights[span], weighed[rows], out=weights[span])
    source_starts, order = pairs.by_source()
    released = Side(starts, np.zeros(0, np.int32), places, copies[1])
    sources = Side(source_starts, order, column, times)
    groups = Groups.find(found, shelf, strangers=strangers, most=exact)
    tied = not groups.apart or bool(outside.any())
    p, told, heard, chances = (shelf.empty(edges) for _ in range(4))
    for start, value in ((p, 0.0), (told, 1.0), (heard, 1.0)):
        for span, _ in pairs.blocks():
            start[span] = value
    rounds = rounds_for(edges)
    with _threads(edges), Progress("rounds of messages", rounds) as turns:
        at_once = shelf.whole(starts), shelf.whole(source_starts)
        space = Space(p, told, heard, at_once, forget, turns.step)
        (to_strangers, to_record), total, null, rest, rounds, change = propagated(
            released, sources, groups.spare(found, strangers=strangers, tied=tied), copies, weights,
            outside, stranger, float(strangers), CLOSE, rounds, space,
        )  # fmt: skip
        for span, _ in pairs.blocks():
            chances[span] = p[span]
        left = (1.0, outside, np.full(many, stranger), strangers)
        if tied:
            taken = null[others] + groups.elsewhere(stranger * to_strangers * times)
            left = (float(null[0]), rest, stranger / np.maximum(taken, TINY), strangers)
        inside = pairs.by_record(weights, copies[1])
        settled = groups.sum(found, inside, weights, left, chances, shelf)
        if not settled.all():
            apart = rest + strangers * stranger * to_record
            q = heard  # messages that nobody asks for again
            entangled(released, sources, weights, total, null, apart, SHOWN, q, space)
            most = np.argsort(-to_record / total[0], kind="stable")[:columns]
            strange = (stranger, float(strangers), to_strangers, to_record, most)
            with Progress("records among those most entangled", many) as done:
                for first, end in shelf.blocks(starts):
                    which = first + np.flatnonzero(~settled[first:end])
                    clustered(
                        which, released, sources, copies, weights, p, q, told, total, null,
                        strange, columns, ROWS, chances,
                    )  # fmt: skip
                    forget()
                    done.step(end - first)
    _agree(pairs, chances, settled, groups, copies)
    for end in (1, 0):
        whole = np.maximum(1, pairs.sums(chances, copies, end))
        pairs.divide(chances, whole, end)
    left_out = found.dropped / weighed * times
    linked_places, linked = pairs.turned(chances, source_starts, order)
    plain = None
    if tied or not settled.all():
        for end in (1, 0):
            pairs.divide(p, np.maximum(1, pairs.sums(p, copies, end)), end)
        plain = pairs.turned(p, source_starts, order)[1]
    return Links(
        found.source,
        found.released,
        source_starts,
        linked_places,
        linked,
        float(settled @ times / times.sum()) if not tied else 0.0,
        0.0 if settled.all() else float(change),
        int(rounds),
        found.bound,
        float(left_out.sum() / times.sum()),
        plain,
    )


class _Pairs(NamedTuple):
    """Candidate pairs in the order of released records: the places of both ends."""

    starts: Ints
    places: NDArray[np.int32]
    column: NDArray[np.int32]
    sources: int
    shelf: Shelf

    @classmethod
    def of(cls, found: Candidates, shelf: Shelf) -> _Pairs:
        many = len(found.places)
        if many > MOST_PAIRS:
            raise DataError(
                f"{many:,} pairs are more than are weighed together, {MOST_PAIRS:,}; set a smaller "
                "`top` in the intruder file, or split both files by a key without error."
            )
        places = found.places
        if places.dtype != np.int32:
            places = places.astype(np.int32)
        made = cls(
            found.starts, places, shelf.empty(many, np.int32), len(found.source.first), shelf
        )
        for span, rows in made.blocks():
            made.column[span] = rows
        return made

    def blocks(self) -> Iterator[tuple[slice, Ints]]:
        """Spans of pairs, with the released record of each pair."""
        for first, end in self.shelf.blocks(self.starts):
            rows = np.repeat(np.arange(first, end), np.diff(self.starts[first : end + 1]))
            yield slice(self.starts[first], self.starts[end]), rows
            forget()

    def by_record(self, values: Floats, copies: Ints) -> Floats:
        """Sums over all copies of the sources of each released record."""
        found = np.zeros(len(self.starts) - 1)
        for span, rows in self.blocks():
            if len(rows):
                first = rows[0]
                here = np.bincount(rows - first, values[span] * copies[self.places[span]])
                found[first : first + len(here)] = here
        return found

    def sums(
        self, values: Floats, copies: tuple[Ints, Ints], end: int, only: Bools | None = None
    ) -> Floats:
        """Over all copies at the far end, for each released (end 0) or source record (1)."""
        found = np.zeros(self.sources if end else len(self.starts) - 1)
        for span, rows in self.blocks():
            chosen = slice(None) if only is None else only[rows]
            here, places = values[span][chosen], self.places[span][chosen]
            ways = copies[0][rows[chosen]] if end else copies[1][places]
            np.add.at(found, places if end else rows[chosen], here * ways)  # in this order
        return found

    def divide(self, values: Floats, whole: Floats, end: int, only: Bools | None = None) -> None:
        """By a number of each released (end 0) or source record (1)."""
        for span, rows in self.blocks():
            by = whole[self.places[span] if end else rows]
            if only is not None:
                by = np.where(only[rows], by, 1.0)
            values[span] /= by

    def by_source(self) -> tuple[Ints, NDArray[np.int32]]:
        """Where the pairs of each source record start, and the pairs in that order."""
        from discreet._kernels.components import turn

        many = np.zeros(self.sources, np.int64)
        for span, _ in self.blocks():
            many += np.bincount(self.places[span], minlength=self.sources)
        starts = np.concatenate([[0], np.cumsum(many)])
        order, ends = self.shelf.empty(len(self.places), np.int32), starts[:-1].copy()
        for first, end in self.shelf.whole(self.starts):
            turn(first, end, self.starts, self.places, ends, order)
            forget()
        return starts, order

    def turned(
        self, values: Floats, starts: Ints, order: NDArray[np.int32]
    ) -> tuple[NDArray[np.int32], Floats]:
        """Released records and values of the pairs, by source record."""
        column, found = self.shelf.empty(len(order), np.int32), self.shelf.empty(len(order))
        for first, end in self.shelf.blocks(starts):
            span = slice(starts[first], starts[end])
            column[span], found[span] = self.column[order[span]], values[order[span]]
            forget()
        return column, found


def rounds_for(edges: int) -> int:
    """How long messages may go round, by the work that a round is.

    >>> rounds_for(1_000), rounds_for(6_000_000)
    (300, 100)
    """
    return int(np.clip(WORK // max(edges, 1), FEWEST, ROUNDS))


def _agree(
    pairs: _Pairs, chances: Floats, settled: Bools, groups: Groups, copies: tuple[Ints, Ints]
) -> None:
    """Balance what was summed cluster by cluster: the links of a source sum to 1 at most, and as
    many sources of a group have none as its records leave.
    """
    if settled.all():
        return
    chosen, many = ~settled, copies[1][: pairs.sources]
    open_ = np.zeros(len(groups.records) + 1, bool)
    open_[groups.of[chosen]] = True
    there = open_[np.minimum(groups.sources, len(groups.records))]
    of = np.where(there, groups.sources, 0)
    left = np.where(there, 1 - pairs.sums(chances, copies, 1, chosen), 0.0)
    null = np.maximum(left, 0)
    wanted, said = (np.bincount(of, many * part)[of] for part in (left, null))
    null *= np.clip(wanted / np.maximum(said, TINY), 0, 1)
    outside = np.clip(1 - pairs.sums(chances, copies, 0, chosen), 0, 1)
    for _ in range(AGREE):
        for end, rest in ((1, null), (0, outside)):
            whole = np.maximum(pairs.sums(chances, copies, end, chosen) + rest, TINY)
            rest /= whole
            pairs.divide(chances, whole, end, chosen)


@contextmanager
def _threads(edges: int) -> Iterator[None]:
    """One thread for few edges: many short loops would wait for each other."""
    from numba import get_num_threads, set_num_threads

    before = get_num_threads()
    set_num_threads(before if edges > FEW else 1)
    try:
        yield
    finally:
        set_num_threads(before)
