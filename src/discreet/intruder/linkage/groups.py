"""Groups of entangled released records, and their exact sums."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.intruder.linkage.blocking import Candidates
from discreet.intruder.linkage.equation import group_links, refuse_impossible
from discreet.intruder.linkage.shelf import Shelf, forget

EXACT_TOTAL = 1 << 29  # steps of all groups together: a second's work
MOST_HELD = 1 << 24  # numbers of one group


@dataclass(frozen=True, eq=False)
class Groups:
    """Released classes that share candidates, also by others in between.

    `of`: the group of each released class; `sources`: of each source class, from the number of
    `records` on if it is in none; `quick`: groups that are summed exactly. `apart`: no group
    depends on another, as groups do that share strangers.
    """

    of: Ints
    sources: Ints
    records: Ints
    quick: NDArray[np.bool_]
    apart: bool

    @classmethod
    def find(cls, found: Candidates, shelf: Shelf, *, strangers: int, most: int) -> Groups:
        """Groups that take up to `most` steps are quick; all records are one if that is quick."""
        from discreet._kernels.components import components, join

        released, sources = len(found.released.first), len(found.source.first)
        everyone = int(found.released.times.sum()), int(found.source.times.sum())
        if strangers and _cost(np.array([everyone[0]]), np.array([everyone[1]]))[0] <= most:
            one = np.zeros(released, np.int64)
            there = (np.bincount(found.places, minlength=sources) == 0).astype(np.int64)
            return cls(one, there, np.array([everyone[0]]), np.ones(1, bool), True)
        parent = np.arange(released + sources)
        for first, end in shelf.whole(found.starts):
            join(first, end, found.starts, found.places, parent)
            forget()
        _, group = components(parent)
        of, others = group[:released], group[released:]
        count = int(of.max(initial=-1)) + 1  # what is behind are sources that nobody asks for
        records = np.bincount(of, found.released.times, count).astype(np.int64)
        asked = others < count
        rows = np.bincount(others[asked], found.source.times[asked], count).astype(np.int64)
        cost = _cost(records, rows)
        order = np.argsort(cost, kind="stable")
        quick = np.zeros(count, bool)
        alone = records == 1
        quick[order] = (cost[order] <= most) & (
            np.cumsum(np.where(alone, 0, cost)[order]) <= EXACT_TOTAL
        )
        return cls(of, others, records, quick | alone, not strangers)

    def spare(self, found: Candidates, *, strangers: int, tied: bool) -> tuple[Ints, Floats]:
        """The group of each source class and of the strangers, -1 if none, and by how many the
        sources of each group outnumber its records. All groups are one if they are `tied`.
        """
        sources = np.full(len(found.source.first) + 1, 0 if tied else -1, np.int64)
        of, count = (np.zeros_like(self.of), 1) if tied else (self.of, len(self.records))
        if not tied:
            sources[:-1] = np.where(self.sources < count, self.sources, -1)
        known = sources[:-1] >= 0
        spare = np.bincount(sources[:-1][known], found.source.times[known], count) + strangers
        spare -= np.bincount(of, found.released.times, count)
        return sources, np.asarray(spare, np.float64)

    def elsewhere(self, values: Floats) -> Floats:
        """Sums over all released classes outside the group of each."""
        inside = np.bincount(self.of, values, len(self.quick))
        return np.asarray(np.maximum(inside.sum() - inside, 0)[self.of])

    def sum(
        self,
        found: Candidates,
        inside: Floats,
        weights: Floats,
        left: tuple[float, Floats, Floats, int],
        chances: Floats,
        shelf: Shelf,
    ) -> NDArray[np.bool_]:
        """Put exact probabilities in place of others; which released classes have them.

        `inside`: weights of each released class together. `left` to a group by all others: the
        weight of a source's null link, that of outsiders and of one stranger for each released
        class, and how many strangers there are.
        """
        null, outside, stranger, strangers = left
        starts = found.starts
        alone = (self.records == 1)[self.of]
        whole = inside + null * (outside + strangers * stranger)
        for first, end in shelf.blocks(starts):
            span = slice(starts[first], starts[end])
            here = np.repeat(np.arange(first, end), np.diff(starts[first : end + 1]))
            exactly = np.asarray(weights[span]) / whole[here]
            chances[span] = np.where(alone[here], exactly, chances[span])
            forget()
        settled = self.quick[self.of]
        by_group = np.argsort(self.of, kind="stable")
        ends, touched = np.searchsorted(self.of[by_group], np.arange(len(self.quick) + 1)), 0
        for g in np.flatnonzero(self.quick & (self.records > 1)):
            i = by_group[ends[g] : ends[g + 1]]
            edges = np.concatenate([np.arange(starts[k], starts[k + 1]) for k in i])
            a = np.repeat(np.arange(len(i)), starts[i + 1] - starts[i])
            if (touched := touched + len(edges)) > shelf.block:
                forget()
                touched = 0
            j, b = np.unique(found.places[edges], return_inverse=True)
            small = np.zeros((len(j), len(i)))
            small[b, a] = weights[edges]
            many, times = found.source.times[j], found.released.times[i]
            each = np.repeat(np.repeat(small, many, 0), times, 1)
            strange = np.full(each.shape[1], strangers * stranger[i[0]])
            others = np.repeat(outside[i], times)
            links, possible = group_links(each, others, strange, strangers, null=null)
            if possible:
                first_row, first_column = np.cumsum(many) - many, np.cumsum(times) - times
                chances[edges] = links[first_row[b], first_column[a]]
            elif self.apart:
                refuse_impossible()
            else:
                settled[i] = False
        forget()
        return np.asarray(settled)


def _cost(records: Ints, rows: Ints) -> Floats:
    """Steps of the exact sum; endless where it does not fit in memory."""
    held = (rows + 1.0) * 2.0 ** np.minimum(records, 60)
    return np.where(held <= MOST_HELD, held * records, np.inf)
