"""Which source records a released record may come from: blocks, strips, the most probable."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.intruder.linkage.encode import Encoded, whitening

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DENSE = 2_000_000  # pairs that are all weighed
WALKS = 300_000_000  # combinations of outcomes whose probabilities are summed
BATCH = 20_000_000  # pairs of combinations at a time
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
    and, of what is left, all but the `top` and what weighs next to nothing. Where beliefs differ by
    respondent all sources are weighed, and all but the `top` left out.
    """
    ranks, labels = data.ranks, data.matches
    y, x = data.y, data.x
    if data.own:
        y, x = np.hstack([y, data.own.told(len(y))]), np.hstack([x, data.own.shown(len(x))])
    source = classes(np.hstack([data.source_codes, labels.source, ranks.source[:, :, 0]]), y)
    released = classes(
        np.hstack([data.released_codes, labels.released, *ranks.released.transpose(2, 0, 1)]), x
    )
    small = len(source.first) * len(released.first) <= dense
    if small or data.own:  # laws of any tail and spread: every pair is weighed
        white, most = whitening(data.correlation), None if small else top
        least = 0.0 if small else TRIFLE
        found = [_whole(data, source, i, white, top=most, least=least) for i in released.first]
        _refuse_empty(released, [len(f[0]) for f in found])
        return _gathered(source, released, found, 0.0)
    return _pruned(data, source, released, lose, top)


def _pruned(data: Encoded, source: Classes, released: Classes, lose: float, top: int) -> Candidates:
    from scipy.stats import chi2

    from discreet._kernels.linkblocking import candidates, near_combinations

    first, shown_first = source.first, released.first
    every = np.hstack([data.source_codes, data.matches.source])[first]
    combinations = classes(every, np.zeros((len(first), 0)))
    some = first[combinations.first]
    shown = np.hstack([data.released_codes, data.matches.released])[shown_first]
    seen = classes(shown, np.zeros((len(shown_first), 0)))
    few = shown_first[seen.first]
    parts = data.matches.parts[some]
    codes = data.source_codes[some]
    least, lost = _least(data, codes, parts, lose)
    labels = data.matches
    own = np.ascontiguousarray(labels.source[some])
    chances = [part[some] for part in (labels.same, labels.leak, labels.gone)]
    listed, spans = _asked(own, chances[1], labels.released[few])

    dims = data.y.shape[1]
    radius = float(np.sqrt(chi2.isf(lose / 2, dims))) if dims else 1.0
    at_y, at_x = _coordinates(data, first, shown_first, radius)
    order, strips, low, width = _strips(at_y, combinations, radius)
    y, times = np.ascontiguousarray(data.y[first][order]), source.times[order]
    at_y = np.ascontiguousarray(at_y[order])
    ranks = (data.ranks.source[first][order], data.ranks.scales[first][order], data.ranks.laws)
    white = whitening(data.correlation)
    many, most = len(shown_first), min(top, len(first))
    heap, who = np.zeros((many, most)), np.zeros((many, most), np.int64)
    sizes, dropped = np.zeros(many, np.int64), np.zeros(many)
    by_combination = np.argsort(seen.of, kind="stable")
    ends = np.cumsum(seen.times)
    for begin, end in _batches(spans):
        here, last = slice(begin, end), end - begin
        asked = few[here]
        shares = np.ascontiguousarray(labels.share[asked])
        compared = (own, *chances, np.ascontiguousarray(labels.released[asked]), shares, parts)
        seen_codes = np.ascontiguousarray(data.released_codes[asked])
        starts = np.zeros(last + 1, np.int64)
        out = (np.zeros(0, np.int64), np.zeros((0, len(data.types))))
        where = (listed, np.ascontiguousarray(spans[here]))
        for fill in (False, True):
            near_combinations(
                data.types, data.chances, seen_codes, codes, compared, where, least, starts, out
            )
            if not fill:
                starts = np.cumsum(starts)
                size = max(1, starts[-1])
                out = (np.zeros(size, np.int64), np.zeros((size, len(data.types))))
        rows = np.sort(by_combination[ends[begin] - seen.times[begin] : ends[end - 1]])
        mine = shown_first[rows]
        found = (heap[rows], who[rows], sizes[rows], dropped[rows])
        candidates(
            np.ascontiguousarray(data.x[mine]), seen.of[rows] - begin,
            np.ascontiguousarray(data.unknown[mine]), (starts, *out), (strips, low, width), y,
            times, radius, data.heights, data.precisions, white,
            (np.ascontiguousarray(at_x[rows]), at_y),
            (np.ascontiguousarray(data.ranks.released[mine]), *ranks), *found,
        )  # fmt: skip
        heap[rows], who[rows], sizes[rows], dropped[rows] = found
    whole = (heap * times[who]).sum(1) + dropped
    keep = (np.arange(most) < sizes[:, None]) & (heap > TRIFLE * whole[:, None])
    dropped = np.maximum(0, whole - (heap * keep * times[who]).sum(1))
    far = np.flatnonzero(~keep.any(1))
    bound = lose / 2 * bool(dims) + lost
    alone = {i: _whole(data, source, shown_first[i], white, top=top) for i in far.tolist()}
    _refuse_empty(released, [len(alone[i][0]) if i in alone else 1 for i in range(many)])
    if alone:
        each = [
            alone.get(i) or (order[who[i, keep[i]]], heap[i, keep[i]], float(dropped[i]))
            for i in range(many)
        ]
        return _gathered(source, released, each, bound)
    starts = np.concatenate([[0], np.cumsum(keep.sum(1))])
    return Candidates(source, released, starts, order[who[keep]], heap[keep], dropped, bound)


def _least(data: Encoded, codes: Ints, parts: Floats, lose: float) -> tuple[float, float]:
    """Combinations less probable than this are left out, and how probable all those are at most.

    If there are too many combinations to sum over, nothing is left out.
    """
    from discreet._kernels.linkblocking import kept_mass

    there = (parts.sum(2) > 0).all(1)  # others are never released
    codes, parts = codes[there], parts[there]
    alike = classes(codes, parts.reshape(len(parts), -1)).first if there.any() else there[:0]
    codes, parts = np.ascontiguousarray(codes[alike]), np.ascontiguousarray(parts[alike])
    ways = (parts > 0).sum(2).prod(1, dtype=np.float64)
    for v, size in enumerate(data.outcomes.tolist()):
        ways *= (data.chances[:, v, :, :size] > 0).any(0).sum(1)[codes[:, v]]
    for exponent in range(1, 13) if ways.sum() <= WALKS else ():
        least = 10.0**-exponent
        kept = kept_mass(data.types, data.chances, data.outcomes, codes, parts, least)
        lost = max(0.0, 1 - float(kept))
        if lost <= lose / 2:
            return least, lost
    return 0.0, 0.0


def _asked(codes: Ints, leak: Floats, shown: Ints) -> tuple[Ints, Ints]:
    """Lists of source combinations, and the two parts of them that may be each released one.

    Those of the same label, and those that can become any; of the key, or of all keys together
    that can become none but their own, for which these are fewest.
    """
    many, keys = codes.shape
    everyone = np.arange(many)
    lists, at = [everyone], many
    best = np.zeros((len(shown), 4), np.int64)
    best[:, 1] = many
    fewest = np.full(len(shown), many)
    strict = [e for e in range(keys) if not leak[:, e].any()]
    asked = [(codes[:, e], shown[:, e], leak[:, e] > 0) for e in range(keys)]
    if len(strict) > 1:
        both = np.vstack([codes[:, strict], shown[:, strict]])
        of = classes(both, np.zeros((len(both), 0))).of
        missing = (shown[:, strict] < 0).any(1)
        asked.append((of[:many], np.where(missing, -1, of[many:]), np.zeros(many, bool)))
    for own, wanted, loose in asked:
        order = np.argsort(np.where(loose, np.iinfo(np.int64).max, own), kind="stable")
        tight = many - int(loose.sum())
        begin = np.searchsorted(own[order[:tight]], wanted)
        end = np.searchsorted(own[order[:tight]], wanted, side="right")
        size = np.where(wanted < 0, many + 1, end - begin + many - tight)
        better = size < fewest
        best[better] = np.column_stack(
            [at + begin, at + end, np.full_like(end, at + tight), np.full_like(end, at + many)]
        )[better]
        fewest = np.minimum(fewest, size)
        lists.append(order)
        at += many
    return np.concatenate(lists), best


def _batches(spans: Ints) -> list[tuple[int, int]]:
    """Released combinations whose pairs fit in memory."""
    pairs = np.cumsum(spans[:, 1] - spans[:, 0] + spans[:, 3] - spans[:, 2])
    cuts = [0]
    while cuts[-1] < len(spans):
        done = pairs[cuts[-1] - 1] if cuts[-1] else 0
        cuts.append(max(cuts[-1] + 1, int(np.searchsorted(pairs, done + BATCH, side="right"))))
    return list(pairwise(cuts))


def _coordinates(
    data: Encoded, source: Ints, released: Ints, radius: float
) -> tuple[Floats, Floats]:
    """The two numbers that tell most, in which no pair is further apart than the radius.

    Ranks are in units of their reach; values that fill many ranks are looked at everywhere.
    """
    columns = [(data.y[source, d], data.x[released, d]) for d in range(data.y.shape[1])]
    for k, reach in enumerate(data.ranks.reach.tolist()):
        wide = max(reach // 4, 2)
        sides = []
        for spans in (data.ranks.source[source, k], data.ranks.released[released, k]):
            middle = (spans[:, 0] + spans[:, 1]) / 2
            odd = (spans[:, 0] < 0) | (spans[:, 1] - spans[:, 0] > wide)
            sides.append(np.where(odd, np.nan, middle * (radius / (reach + wide + 1))))
        columns.append((sides[0], sides[1]))
    columns = [pair for pair in columns if not np.isnan(pair[0]).all()]
    columns.sort(key=lambda pair: -float(np.nanstd(pair[0])))
    y, x = (
        np.column_stack([np.zeros((rows, 0)), *(pair[side] for pair in columns[:2])])
        for side, rows in ((0, len(source)), (1, len(released)))
    )
    return y, x


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
    data: Encoded,
    source: Classes,
    i: int,
    white: Floats,
    *,
    top: int | None,
    least: float = 0.0,
) -> tuple[Ints, Floats, float]:
    """One released record weighed with every source; weights relative to the largest.

    Of all weights together, none that is at most the share `least` is kept.
    """
    from discreet._kernels.linkblocking import log_weights

    some, labels, ranks = source.first, data.matches, data.ranks
    own = (labels.source, labels.same, labels.leak, labels.gone)
    logs = log_weights(
        data.x[i], data.released_codes[i], data.unknown[i], data.y[some],
        data.source_codes[some], data.types, data.chances, data.heights, data.precisions,
        white, labels.released[i], labels.share[i], tuple(part[some] for part in own),
        ranks.released[i], (ranks.source[some], ranks.scales[some], ranks.laws),
    )  # fmt: skip
    if data.own:
        logs = logs + data.own.logs(i, some)
    best = logs.max()
    if not np.isfinite(best):
        return np.zeros(0, np.int64), np.zeros(0), 0.0
    weights = np.exp(logs - best)
    whole = float(weights @ source.times)
    places = np.flatnonzero(weights > least * whole)
    if top is not None and len(places) > top:
        places = np.sort(places[np.argsort(-weights[places], kind="stable")[:top]])
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
