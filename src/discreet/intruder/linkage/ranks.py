"""Rank-swapped numbers: spans of ranks, and the law of how far ranks move."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.linkage.model import Key

MOST_EDGES = 10_000_000  # entries of laws that are cut off at an end of the file
QUICK = 200_000_000  # products, else by Fourier transforms
MISSING = -1


@dataclass(frozen=True, eq=False)
class Ranks:
    """Numbers whose ranks moved, as kernels take them.

    `source`: first rank of each source value and the one after its last, -1 if missing, and the
    place in `edge` of its own sums, -1 if it has none; `released`: both ranks; `scales`: one over
    the ranks of a source value and what of the law lies within the file. Of each number: ranks that
    it moves by at most (`reach`), how many there are (`sizes`), and from `start` on the law's sums,
    taken `once` and `twice`.
    """

    names: tuple[str, ...]
    source: Ints
    released: Ints
    scales: Floats
    reach: Ints
    sizes: Ints
    start: Ints
    once: Floats
    twice: Floats
    edge: Floats

    @property
    def laws(self) -> tuple[Ints, Ints, Ints, Floats, Floats, Floats]:
        return self.reach, self.sizes, self.start, self.once, self.twice, self.edge

    def law(self, k: int) -> Floats:
        """Probabilities of the distances -reach to reach of number k."""
        span = slice(self.start[k], self.start[k] + 2 * self.reach[k] + 2)
        return np.diff(self.once[span])

    def chances(self, k: int, released: int) -> Floats:
        """P[released value | source value] of number k for all source records."""
        from discreet._kernels.linkblocking import rank_chances

        spans, scales = self.source[:, k], self.scales[:, k]
        return np.asarray(rank_chances(self.released[released, k], spans, scales, k, self.laws))

    def wider(self, times: float) -> Ranks:
        """The same for who knows ranks so many times less precisely."""
        if not self.names:
            return self
        laws = []
        for k, reach in enumerate(self.reach.tolist()):
            wide = min(int(reach * times), int(self.sizes[k]) - 1)
            away = np.abs(np.arange(-wide, wide + 1)) * ((reach + 0.5) / (wide + 0.5))
            law = self.law(k)[np.minimum(np.rint(away), reach).astype(np.int64) + reach]
            laws.append(law / law.sum())
        return _built(self.names, self.source[:, :, :2], self.released, self.sizes, laws)

    def drawn(self, like: Ints, rng: np.random.Generator) -> Ranks:
        """Released values drawn for these source records."""
        spans = self.released.copy()
        for k in range(len(self.names)):
            size, reach = int(self.sizes[k]), int(self.reach[k])
            first, last = self.source[like, k, 0], self.source[like, k, 1]
            known = first >= 0
            rank = np.where(known, first + rng.integers(np.maximum(last - first, 1)), 0)
            sums = self.once[self.start[k] : self.start[k] + 2 * reach + 2]
            low, high = (sums[np.clip(e - rank + reach, 0, 2 * reach + 1)] for e in (0, size))
            luck = low + (high - low) * rng.random(len(like))
            moved = np.searchsorted(sums, luck, side="right") - 1 - reach
            there = np.where(known, rank + moved, rng.integers(size, size=len(like)))
            there = np.clip(there, 0, size - 1)
            values = np.unique(self.source[self.source[:, k, 0] >= 0, k, :2], axis=0)
            spans[:, k] = values[np.searchsorted(values[:, 0], there, side="right") - 1]
        return replace(self, released=spans)


def ranked(
    keys: list[Key], columns: list[tuple[Floats, Floats]], sources: int, count: int
) -> Ranks:
    """Source and released numbers as spans of ranks.

    Ranks are those in the source if it has all released values, else of each file by itself.
    """
    source = np.full((sources, len(keys), 2), MISSING, np.int64)
    released = np.full((count, len(keys), 2), MISSING, np.int64)
    sizes, laws = np.zeros(len(keys), np.int64), []
    for k, (key, (y, x)) in enumerate(zip(keys, columns, strict=True)):
        known, shown = ~np.isnan(y), ~np.isnan(x)
        values = np.sort(y[known])
        if not len(values):
            raise DataError(f"{key.name!r} is missing in every source record; leave the key out.")
        sizes[k] = len(values)
        source[known, k] = _spans(values, y[known])
        there = _spans(values, x[shown])
        if (there[:, 0] == there[:, 1]).any():  # values that the source does not have
            own = np.sort(x[shown])
            low, high = (_spans(own, x[shown]) * (len(values) / len(own))).T
            there = np.column_stack([np.floor(low), np.ceil(high)]).astype(np.int64)
        released[shown, k] = there
        laws.append(distance_law(key, len(values)))
    return _built(tuple(key.name for key in keys), source, released, sizes, laws)


def distance_law(key: Key, size: int) -> Floats:
    """Probabilities that a rank moves by -d to d, d ranks being the window of a file of `size`.

    Equal parts of |distance| from 0 to d + 1/2 have the probabilities `law`.

    >>> from discreet.intruder.linkage.model import Kind
    >>> distance_law(Key("age", Kind.RANK, window=0.2), 10)
    array([0.2, 0.2, 0.2, 0.2, 0.2])
    """
    if key.window is None or not key.window >= 0:
        raise DataError(f"the rank key {key.name!r} has no window; give a share of the records.")
    reach = min(math.floor(key.window * size + 1e-9), size - 1)
    parts = np.array(key.law or (1.0,), np.float64)
    upto = np.concatenate([[0.0], np.cumsum(parts / parts.sum())])
    edges = np.minimum(np.arange(reach + 1) + 0.5, reach + 0.5)
    sums = np.interp(edges, np.linspace(0, reach + 0.5, len(upto)), upto) / 2
    one_side = np.diff(sums)
    found = np.concatenate([one_side[::-1], [2 * sums[0]], one_side])
    return np.asarray(found / found.sum())


def _spans(values: Floats, wanted: Floats) -> Ints:
    first = np.searchsorted(values, wanted)
    return np.column_stack([first, np.searchsorted(values, wanted, side="right")]).astype(np.int64)


def _built(
    names: tuple[str, ...], source: Ints, released: Ints, sizes: Ints, laws: list[Floats]
) -> Ranks:
    shape = source.shape[:2]
    spans, scales = np.full((*shape, 3), MISSING, np.int64), np.ones(shape)
    spans[:, :, :2] = source
    once, twice, edges, used = [np.zeros(0)], [np.zeros(0)], [np.zeros(0)], 0
    reach = np.array([len(law) // 2 for law in laws], np.int64)
    start = np.cumsum([0, *(len(law) + 1 for law in laws)])[:-1].astype(np.int64)
    for k, law in enumerate(laws):
        sums = np.minimum(np.concatenate([[0.0], np.cumsum(law)]), 1.0)
        sums[-1] = 1.0
        once.append(sums)
        twice.append(np.concatenate([[0.0], np.cumsum(sums)[:-1]]))
        wide, size = int(reach[k]), int(sizes[k])
        inside = _inside(sums, wide, np.arange(size), size)
        known = source[:, k, 0] >= 0
        values, of = np.unique(source[known, k], axis=0, return_inverse=True)
        many = values[:, 1] - values[:, 0]
        middle = (values[:, 0] + values[:, 1] - 1) // 2
        scale, table = 1 / (many * inside[middle]), np.full(len(values), MISSING, np.int64)
        cut = (many > 1) & ((values[:, 0] < wide) | (values[:, 1] - 1 + wide >= size))
        for v in np.flatnonzero(cut)[np.argsort(-many[cut], kind="stable")]:
            length = int(many[v]) + 2 * wide + 1
            if used + length > MOST_EDGES:
                break
            edges.append(_cut_sums(1 / inside[values[v, 0] : values[v, 1]], sums, length))
            table[v], scale[v] = used, 1 / many[v]
            used += length
        spans[known, k, 2], scales[known, k] = table[of.ravel()], scale[of.ravel()]
    return Ranks(
        names,
        spans,
        np.ascontiguousarray(released),
        scales,
        reach,
        sizes,
        start,
        np.concatenate(once),
        np.concatenate(twice),
        np.concatenate(edges),
    )


def _inside(sums: Floats, reach: int, ranks: Ints, size: int) -> Floats:
    """What of the law around each rank lies within the file."""
    low, high = (np.clip(e - ranks + reach, 0, 2 * reach + 1) for e in (0, size))
    return np.asarray(sums[high] - sums[low])


def _cut_sums(weights: Floats, sums: Floats, length: int) -> Floats:
    """Sums over ranks r of weights[r] F(e - r), e from a reach before the ranks to one after."""
    if len(weights) * len(sums) <= QUICK:
        found = np.convolve(weights, sums)
    else:
        from scipy.signal import fftconvolve

        found = fftconvolve(weights, sums)
    found = found[:length].copy()
    # beyond its table F is 1
    done = np.cumsum(weights)
    found[len(sums) :] += done[: length - len(sums)]
    return np.asarray(found)
