"""Which source records a released record may come from: blocks, strips, the most probable."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.linkage.encode import Encoded, whitening
from discreet.intruder.linkage.shelf import Shelf, forget
from discreet.look.progress import Progress
from discreet.spreading import Spread, spread

DENSE = 2_000_000  # pairs that are all weighed
PIECE = 1 << 20  # candidates of released records that are looked for at a time
TRIFLE = 1e-7  # of a released record's weight


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
    places: NDArray[np.int32]
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


def find_candidates(
    data: Encoded, *, lose: float, top: int, dense: int = DENSE, shelf: Shelf | None = None
) -> Candidates:
    """All sources of positive density if they are few, else the most probable ones.

    Left out are sources further than a radius, which masked records leave with probability
    lose / 2, and combinations of categories that are reached with probability lose / 2 in all;
    and, of what is left, all but the `top` and what weighs next to nothing. Where beliefs differ by
    respondent all sources are weighed, and all but the `top` left out. What is found lies on a
    shelf, in memory or on disk.
    """
    ranks, labels, shelf = data.ranks, data.matches, shelf or Shelf()
    y, x = data.y, data.x
    if data.own:
        y, x = np.hstack([y, data.own.told(len(y))]), np.hstack([x, data.own.shown(len(x))])
    source = classes(_side_by_side(data.source_codes, labels.source, ranks.source[:, :, 0]), y)
    spans = ranks.released.transpose(2, 0, 1)
    released = classes(_side_by_side(data.released_codes, labels.released, *spans), x)
    small = len(source.first) * len(released.first) <= dense
    if not small and not data.own:
        from discreet.intruder.linkage.search import pruned

        return pruned(data, source, released, lose, top, shelf)
    most, least = (None, 0.0) if small else (top, TRIFLE)
    given = (data, source, released.first, whitening(data.correlation), most, least)
    if small:
        return gathered(source, released, [_weighed((0, len(released.first)), *given)], 0.0, shelf)
    size = max(1, PIECE // top)  # laws of any tail and spread: every pair is weighed
    items = [(k, min(k + size, len(released.first))) for k in range(0, len(released.first), size)]
    found = spread(_weighed, items, given=given, threads=True)
    return gathered(source, released, put_away(found, Shelf(shelf.memory // 2)), 0.0, shelf)


def _side_by_side(*parts: Ints) -> Ints:
    """Columns as rows of one array, seen from the side: each lies in one place."""
    return np.vstack([part.T for part in parts]).T


@dataclass(frozen=True, eq=False)
class Piece:
    """Candidates of some released classes: how many each has, one after the other."""

    rows: Ints
    sizes: Ints
    places: NDArray[np.int32]
    weights: Floats
    dropped: Floats


def put_away(pieces: Spread[Piece], shelf: Shelf) -> list[Piece]:
    """Each on a shelf as soon as it is found."""
    found = []
    with Progress("pieces of the released file", len(pieces)) as done:
        for one in pieces:
            places, weights = shelf.kept(one.places), shelf.kept(one.weights)
            found.append(replace(one, places=places, weights=weights))
            forget()
            done.step()
    return found


def gathered(
    source: Classes, released: Classes, pieces: list[Piece], bound: float, shelf: Shelf
) -> Candidates:
    """All pieces in the order of released classes; a piece is let go once it is copied."""
    many = len(released.first)
    sizes, dropped = np.zeros(many, np.int64), np.zeros(many)
    for piece in pieces:
        sizes[piece.rows], dropped[piece.rows] = piece.sizes, piece.dropped
    refuse_empty(released, sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    places, weights = shelf.empty(starts[-1], np.int32), shelf.empty(starts[-1])
    while pieces:
        piece = pieces.pop(0)
        before = np.cumsum(piece.sizes) - piece.sizes
        to = np.repeat(starts[piece.rows] - before, piece.sizes) + np.arange(len(piece.places))
        places[to], weights[to] = piece.places, piece.weights
        forget()
    return Candidates(source, released, starts, places, weights, dropped, bound)


def _weighed(
    span: tuple[int, int],
    data: Encoded,
    source: Classes,
    first: Ints,
    white: Floats,
    top: int | None,
    least: float,
) -> Piece:
    """Released classes weighed with every source."""
    rows = np.arange(*span)
    return as_piece(
        rows, [weighed_with_all(data, source, i, white, top=top, least=least) for i in first[rows]]
    )


def as_piece(rows: Ints, found: list[tuple[Ints, Floats, float]]) -> Piece:
    """Places and weights of each row, and the weight of what was left out."""
    return Piece(
        rows,
        np.array([len(places) for places, _, _ in found], np.int64),
        np.concatenate([np.zeros(0, np.int64), *(f[0] for f in found)]).astype(np.int32),
        np.concatenate([np.zeros(0), *(f[1] for f in found)]),
        np.array([f[2] for f in found], np.float64),
    )


def weighed_with_all(
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


def refuse_empty(released: Classes, sizes: Ints | list[int]) -> None:
    for place in np.flatnonzero(np.asarray(sizes) == 0)[:1]:
        row = int(np.flatnonzero(released.of == place)[0]) + 1
        raise DataError(
            f"released record {row} has density 0 under every source record; allow a wider "
            "spread or more misclassification."
        )
