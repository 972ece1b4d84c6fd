"""The most probable sources of each released record, among those that are near enough.

Pieces of the released file do not depend on each other, and are searched for here or by workers.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.intruder.linkage.blocking import (
    PIECE,
    TRIFLE,
    Candidates,
    Classes,
    Piece,
    as_piece,
    classes,
    gathered,
    put_away,
    weighed_with_all,
)
from discreet.intruder.linkage.encode import Encoded, whitening
from discreet.intruder.linkage.shelf import Shelf
from discreet.spreading import spread

WALKS = 300_000_000  # combinations of outcomes whose probabilities are summed
BATCH = 20_000_000  # pairs of combinations at a time
FINEST = 256
EACH = 40  # bytes for a candidate while a piece is searched for


class Sources(NamedTuple):
    """Source classes in the `order` of their strips, and what weighs them."""

    y: Floats
    at: Floats
    times: Ints
    order: Ints
    strips: tuple[Any, ...]
    radius: float
    ranks: tuple[Any, ...]
    laws: tuple[Floats, Floats, Floats]
    top: int


class Asked(NamedTuple):
    """Released classes, the combination of categories of each, and what is near to these."""

    rows: Ints
    x: Floats
    at: Floats
    unknown: Floats
    ranks: Ints
    combination: Ints
    near: tuple[Ints, Ints, Floats]


def pruned(
    data: Encoded, source: Classes, released: Classes, lose: float, top: int, shelf: Shelf
) -> Candidates:
    """What `find_candidates` leaves in of a large file."""
    from scipy.stats import chi2

    first, shown_first, labels = source.first, released.first, data.matches
    every = np.hstack([data.source_codes[first], labels.source[first]])
    combinations = classes(every, np.zeros((len(first), 0)))
    some = first[combinations.first]
    shown = np.hstack([data.released_codes[shown_first], labels.released[shown_first]])
    seen = classes(shown, np.zeros((len(shown_first), 0)))
    few = shown_first[seen.first]
    parts = labels.parts_of(some)
    codes = data.source_codes[some]
    least, lost = _least(data, codes, parts, lose)
    own = np.ascontiguousarray(labels.source[some])
    chances = [part[some] for part in (labels.same, labels.leak, labels.gone)]
    listed, spans = _asked(own, chances[1], labels.released[few])
    dims = data.y.shape[1]
    radius = float(np.sqrt(chi2.isf(lose / 2, dims))) if dims else 1.0
    at_y, at_x = _coordinates(data, first, shown_first, radius)
    order, *edges = _strips(at_y, combinations, radius)
    inner = first[order]
    known = Sources(
        data.y[inner], at_y[order], source.times[order], order, tuple(edges), radius,
        (data.ranks.source[inner], data.ranks.scales[inner], data.ranks.laws),
        (data.heights, data.precisions, whitening(data.correlation)), min(top, len(first)),
    )  # fmt: skip
    by_combination = np.argsort(seen.of, kind="stable")
    ends = np.cumsum(seen.times)
    size, pieces, aside = max(1, PIECE // known.top), list[Piece](), Shelf(shelf.memory // 2)
    for begin, end in _batches(spans):
        here = slice(begin, end)
        compared = (own, *chances, labels.released[few[here]], labels.share[few[here]], parts)
        near = _near(data, few[here], codes, compared, (listed, spans[here]), least)
        rows = np.sort(by_combination[ends[begin] - seen.times[begin] : ends[end - 1]])
        mine = shown_first[rows]
        asked = Asked(
            rows, data.x[mine], at_x[rows], data.unknown[mine], data.ranks.released[mine],
            seen.of[rows] - begin, near,
        )  # fmt: skip
        items = [(at, min(at + size, len(rows))) for at in range(0, len(rows), size)]
        found = spread(
            _searched, items, given=(asked, known), threads=True, memory=EACH * size * known.top
        )
        pieces += put_away(found, aside)
    far = np.concatenate([piece.rows[piece.sizes == 0] for piece in pieces])
    white = known.laws[2]
    alone = [weighed_with_all(data, source, shown_first[i], white, top=top) for i in far]
    if alone:
        pieces.append(as_piece(far, alone))
    return gathered(source, released, pieces, lose / 2 * bool(dims) + lost, shelf)


def _near(
    data: Encoded,
    some: Ints,
    codes: Ints,
    compared: tuple[Any, ...],
    where: tuple[Ints, Ints],
    least: float,
) -> tuple[Ints, Ints, Floats]:
    """Source combinations that may have become each of `some`, and how probably, by type."""
    from discreet._kernels.linkblocking import near_combinations

    seen, starts = data.released_codes[some], np.zeros(len(some) + 1, np.int64)
    out = (np.zeros(0, np.int64), np.zeros((0, len(data.types))))
    for fill in (False, True):
        near_combinations(
            data.types, data.chances, seen, codes, compared, where, least, starts, out
        )
        if not fill:
            starts = np.cumsum(starts)
            size = max(1, starts[-1])
            out = (np.zeros(size, np.int64), np.zeros((size, len(data.types))))
    return starts, *out


def _searched(span: tuple[int, int], asked: Asked, known: Sources) -> Piece:
    """Candidates of some of the released classes that are asked for; none if all are far."""
    from discreet._kernels.linkblocking import candidates

    here, many = slice(*span), span[1] - span[0]
    heap, who = np.zeros((many, known.top)), np.zeros((many, known.top), np.int64)
    sizes, dropped = np.zeros(many, np.int64), np.zeros(many)
    candidates(
        asked.x[here], asked.combination[here], asked.unknown[here], asked.near, known.strips,
        known.y, known.times, known.radius, *known.laws, (asked.at[here], known.at),
        (asked.ranks[here], *known.ranks), heap, who, sizes, dropped,
    )  # fmt: skip
    whole = (heap * known.times[who]).sum(1) + dropped
    keep = (np.arange(known.top) < sizes[:, None]) & (heap > TRIFLE * whole[:, None])
    dropped = np.maximum(0, whole - (heap * keep * known.times[who]).sum(1))
    places = known.order[who[keep]].astype(np.int32)
    return Piece(asked.rows[here], keep.sum(1), places, heap[keep], dropped)


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
