"""Which source records a released record may come from: blocks, strips, the most probable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.intruder.linkage.encode import Encoded, whitening

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DENSE = 2_000_000  # pairs that are all weighed
TRIFLE = 1e-7  # of a released record's weight
FINEST = 256


@dataclass(frozen=True, eq=False)
class Classes:
    """Records that no key tells apart: one of each, whose class each record is, and how many."""

    first: Ints
    of: Ints
    times: Ints


@dataclass(frozen=True, eq=False)
class Candidates:
    """Weights of source classes, by released class from `starts` on.

    `dropped`: weight of sources that were weighed and left out. `bound`: the probability that the
    true source of a masked record is not weighed, at most.
    """

    source: Classes
    released: Classes
    starts: Ints
    places: Ints
    weights: Floats
    dropped: Floats
    bound: float


def classes(codes: Ints, values: Floats) -> Classes:
    """Group equal rows."""
    columns = [*codes.T, *np.nan_to_num(values, nan=np.inf).T]
    if not columns:
        many = len(codes)
        return Classes(np.zeros(1, np.int64), np.zeros(many, np.int64), np.array([many]))
    order = np.lexsort(columns)
    fresh = np.zeros(len(order), bool)
    fresh[:1] = True
    for column in columns:
        there = column[order]
        fresh[1:] |= there[1:] != there[:-1]
    of = np.empty(len(order), np.int64)
    of[order] = np.cumsum(fresh) - 1
    return Classes(order[fresh], of, np.bincount(of))


def find_candidates(data: Encoded, *, lose: float, top: int, dense: int = DENSE) -> Candidates:
    """All sources of positive density if they are few, else the most probable ones.

    Left out are sources further than a radius, which masked records leave with probability
    lose / 2, and combinations of categories that are reached with probability lose / 2 in all;
    and, of what is left, all but the `top` and what weighs next to nothing.
    """
    source = classes(data.source_codes, data.y)
    released = classes(data.released_codes, data.x)
    if len(source.first) * len(released.first) <= dense:
        white = whitening(data.correlation)
        found = [_whole(data, source, i, white, top=None) for i in released.first]
        _refuse_empty(released, [len(f[0]) for f in found])
        return _gathered(source, released, found, 0.0)
    return _pruned(data, source, released, lose, top)


def _pruned(data: Encoded, source: Classes, released: Classes, lose: float, top: int) -> Candidates:
    from scipy.stats import chi2

    from discreet._kernels.linkblocking import candidates, kept_mass, near_combinations

    combinations = classes(data.source_codes[source.first], np.zeros((len(source.first), 0)))
    codes = data.source_codes[source.first][combinations.first]
    seen = classes(data.released_codes[released.first], np.zeros((len(released.first), 0)))
    shown = data.released_codes[released.first][seen.first]
    for exponent in range(1, 13):
        least = 10.0**-exponent
        kept = kept_mass(data.types, data.chances, data.outcomes, codes, least)
        lost = max(0.0, 1 - float(kept))
        if lost <= lose / 2:
            break
    else:
        least, lost = 0.0, 0.0  # nothing is left out
    starts = np.zeros(len(shown) + 1, np.int64)
    nothing = (np.zeros(0, np.int64), np.zeros((0, len(data.types))))
    near_combinations(data.types, data.chances, shown, codes, least, starts, nothing)
    starts = np.cumsum(starts)
    size = max(1, starts[-1])
    near = (np.zeros(size, np.int64), np.zeros((size, len(data.types))))
    near_combinations(data.types, data.chances, shown, codes, least, starts, near)

    dims = data.y.shape[1]
    radius = float(np.sqrt(chi2.isf(lose / 2, dims))) if dims else 1.0
    axes = np.argsort(-np.nanstd(data.y, 0)) if dims else np.zeros(0, np.int64)  # widest first
    y, x = data.y[source.first][:, axes], data.x[released.first][:, axes]
    unknown = np.ascontiguousarray(data.unknown[released.first][:, axes])
    order, strips, low, width = _strips(y, combinations, radius)
    many, most = len(released.first), min(top, len(source.first))
    heap, who = np.zeros((many, most)), np.zeros((many, most), np.int64)
    sizes, dropped = np.zeros(many, np.int64), np.zeros(many)
    candidates(
        np.ascontiguousarray(x), seen.of, unknown,
        (starts, *near), (strips, low, width), np.ascontiguousarray(y[order]),
        source.times[order], radius, np.ascontiguousarray(data.heights[:, axes]),
        np.ascontiguousarray(data.precisions[:, axes]),
        whitening(data.correlation[np.ix_(axes, axes)]), heap, who, sizes, dropped,
    )  # fmt: skip
    whole = (heap * source.times[order][who]).sum(1) + dropped
    keep = (np.arange(most) < sizes[:, None]) & (heap > TRIFLE * whole[:, None])
    dropped = np.maximum(0, whole - (heap * keep * source.times[order][who]).sum(1))
    far = np.flatnonzero(~keep.any(1))
    white = whitening(data.correlation)
    found = {i: _whole(data, source, released.first[i], white, top=top) for i in far.tolist()}
    _refuse_empty(released, [len(found[i][0]) if i in found else 1 for i in range(many)])
    if found:
        listed = [
            found.get(i) or (order[who[i, keep[i]]], heap[i, keep[i]], float(dropped[i]))
            for i in range(many)
        ]
        return _gathered(source, released, listed, lose / 2 * bool(dims) + lost)
    return Candidates(
        source,
        released,
        np.concatenate([[0], np.cumsum(keep.sum(1))]),
        order[who[keep]],
        heap[keep],
        dropped,
        lose / 2 * bool(dims) + lost,
    )


def _strips(y: Floats, combinations: Classes, radius: float) -> tuple[Ints, Ints, float, float]:
    """Sources by combination, then strip of the first number, then the second number."""
    many, blocks = len(y), len(combinations.first)
    if not y.shape[1]:
        order = np.argsort(combinations.of, kind="stable")
        ends = np.cumsum(combinations.times)
        begin = np.concatenate([[0], ends[:-1]])
        return order, np.column_stack([begin, ends, ends]), 0.0, 1.0
    low, high = float(np.nanmin(y[:, 0])), float(np.nanmax(y[:, 0]))
    count = int(np.clip(min((high - low) / (radius / 3), many / blocks / 8), 1, FINEST))
    width = (high - low) / count or 1.0
    odd = np.isnan(y[:, :2]).any(1)
    strip = np.clip(np.nan_to_num((y[:, 0] - low) // width), 0, count - 1).astype(np.int64)
    place = combinations.of * (count + 1) + np.where(odd, count, strip)
    order = np.lexsort([np.nan_to_num(y[:, min(1, y.shape[1] - 1)]), place])
    ends = np.searchsorted(place[order], np.arange(blocks * (count + 1) + 1))
    strips = np.empty((blocks, count + 2), np.int64)
    strips[:, :-1] = ends[:-1].reshape(blocks, count + 1)
    strips[:, -1] = ends[count + 1 :: count + 1]
    return order, strips, low, width


def _whole(
    data: Encoded, source: Classes, i: int, white: Floats, *, top: int | None
) -> tuple[Ints, Floats, float]:
    """One released record weighed with every source; weights relative to the largest."""
    from discreet._kernels.linkblocking import log_weights

    logs = log_weights(
        data.x[i], data.released_codes[i], data.unknown[i], data.y[source.first],
        data.source_codes[source.first], data.types, data.chances, data.heights, data.precisions,
        white,
    )  # fmt: skip
    best = logs.max()
    if not np.isfinite(best):
        return np.zeros(0, np.int64), np.zeros(0), 0.0
    weights = np.exp(logs - best)
    places = np.flatnonzero(weights > 0)
    if top is not None and len(places) > top:
        places = np.sort(places[np.argsort(-weights[places], kind="stable")[:top]])
    whole = float(weights @ source.times)
    left = whole - float(weights[places] @ source.times[places])
    return places, weights[places], max(0.0, left) if top is not None else 0.0


def _gathered(
    source: Classes,
    released: Classes,
    found: list[tuple[Ints, Floats, float]],
    bound: float,
) -> Candidates:
    return Candidates(
        source,
        released,
        np.concatenate([[0], np.cumsum([len(f[0]) for f in found])]).astype(np.int64),
        np.concatenate([f[0] for f in found]),
        np.concatenate([f[1] for f in found]),
        np.array([f[2] for f in found]),
        bound,
    )


def _refuse_empty(released: Classes, sizes: list[int]) -> None:
    for place, size in enumerate(sizes):
        if not size:
            row = int(np.flatnonzero(released.of == place)[0]) + 1
            raise DataError(
                f"released record {row} has density 0 under every source record; allow a wider "
                "spread or more misclassification."
            )
