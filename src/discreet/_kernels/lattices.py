"""Bounds of every sum of many small tables at once, and tables that show how far a sum goes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from discreet._kernels.parallel import spread
from discreet._kernels.sides import FALL, RISE
from discreet.arrays import Bools, Ints

TRIES = 20


def settle(low: Ints, high: Ints, starts: Ints, strides: Ints, sizes: Ints) -> None:
    """The shuttle: each sum tightens its parts and is tightened by them. One row a table.

    A line has `sizes` parts from `starts` on, `strides` apart, and then their sum.
    """
    spread(_settle, len(low), low, high, starts, strides, sizes, each=20 * len(starts))


@njit(cache=True, nogil=True)
def _settle(
    first: int, end: int, low: Ints, high: Ints, starts: Ints, strides: Ints, sizes: Ints
) -> None:
    for row in range(first, end):
        changed = True
        while changed:
            changed = False
            for line in range(len(starts)):
                if _tighten(low[row], high[row], starts[line], strides[line], sizes[line]):
                    changed = True


@njit(cache=True, inline="always")
def _tighten(low: Ints, high: Ints, start: int, stride: int, size: int) -> bool:
    total = start + stride * size
    least, most = 0, 0
    for part in range(start, total, stride):
        least += low[part]
        most += high[part]
    changed = False
    if least > low[total]:
        low[total] = least
        changed = True
    if most < high[total]:
        high[total] = most
        changed = True
    for part in range(start, total, stride):
        a, b = low[part], high[part]
        below, above = low[total] - (most - b), high[total] - (least - a)
        if below > a:
            low[part] = below
            least += below - a
            changed = True
        if above < b:
            high[part] = above
            most -= b - above
            changed = True
    return changed


@njit(cache=True, nogil=True)
def _proven(
    first: int,
    end: int,
    found: Bools,
    tables: Ints,
    rows: Ints,
    nodes: Ints,
    kinds: Ints,
    wanted: Ints,
    starts: Ints,
    cells: Ints,
    steps: Ints,
    effects: Ints,
) -> None:
    up, down = np.int64(1), np.int64(-1)
    for i in range(first, end):
        effect, gone, want = effects[nodes[i]], np.int64(0), wanted[i]
        if kinds[i] != FALL:
            gone = _go(tables[rows[i]].copy(), want, up, starts, cells, steps, effect)
        if kinds[i] != RISE and gone < want:
            gone += _go(tables[rows[i]].copy(), want - gone, down, starts, cells, steps, effect)
        found[i] = gone >= want


def proven(tables: Ints, rows: Ints, *given: Ints) -> Bools:
    """Can the node of each row's table rise, fall, or spread as far as wanted, by greedy moves?

    Given: nodes, kinds, and what is wanted of each row; a move has `steps` in `cells` from `starts`
    on; `effects` says what it does to each node.
    """
    found = np.zeros(len(rows), np.bool_)
    tables = np.ascontiguousarray(tables)
    spread(_proven, len(rows), found, tables, rows, *given, each=20 * tables.shape[1])
    return found


@njit(cache=True, nogil=True)
def _go(
    x: Ints, want: int, way: Any, starts: Ints, cells: Ints, steps: Ints, effect: Ints
) -> np.int64:
    """How far a node goes one way, at most as far as wanted: along each move that leads there."""
    gone, moved = np.int64(0), True
    while moved and gone < want:
        moved = False
        for move in range(len(effect)):
            if effect[move] == 0:
                continue
            sign = way if effect[move] > 0 else -way
            times = np.int64(1) << 40
            for e in range(starts[move], starts[move + 1]):
                step = sign * steps[e]
                if step < 0:
                    times = min(times, x[cells[e]] // -step)
                    if times == 0:
                        break
            if times == 0:
                continue
            each = abs(np.int64(effect[move]))
            times = min(times, -((gone - want) // each))
            for e in range(starts[move], starts[move + 1]):
                x[cells[e]] += sign * steps[e] * times
            gone += times * each
            moved = True
            if gone >= want:
                break
    return gone


@njit(cache=True, nogil=True)
def _wandered(
    first: int,
    end: int,
    found: Bools,
    tables: Ints,
    rows: Ints,
    nodes: Ints,
    kinds: Ints,
    wanted: Ints,
    starts: Ints,
    cells: Ints,
    steps: Ints,
    effects: Ints,
) -> None:
    moves, up, down = len(starts) - 1, np.int64(1), np.int64(-1)
    for i in range(first, end if moves else first):
        effect, want, kind = effects[nodes[i]], wanted[i], kinds[i]
        x, state = tables[rows[i]].copy(), np.uint64(i + 1)
        here, least, most = np.int64(0), np.int64(0), np.int64(0)
        for _ in range(TRIES):
            for _ in range(len(x)):
                state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
                move = np.int64(state >> np.uint64(34)) % moves
                sign = 1 if state >> np.uint64(33) & np.uint64(1) else -1
                here += _slide(x, move, sign, starts, cells, steps) * sign * effect[move]
            most = max(most, here + _go(x.copy(), want, up, starts, cells, steps, effect))
            least = min(least, here - _go(x.copy(), want, down, starts, cells, steps, effect))
            gone = most if kind == RISE else -least if kind == FALL else most - least
            if gone >= want:
                found[i] = True
                break


def wandered(tables: Ints, rows: Ints, *given: Ints) -> Bools:
    """As `proven`, from tables that random moves lead to."""
    found = np.zeros(len(rows), np.bool_)
    tables = np.ascontiguousarray(tables)
    spread(_wandered, len(rows), found, tables, rows, *given, each=2_000 * tables.shape[1])
    return found


@njit(cache=True, nogil=True)
def _slide(x: Ints, move: Any, sign: int, starts: Ints, cells: Ints, steps: Ints) -> np.int64:
    """Go once along a move, if no count falls below 0."""
    for e in range(starts[move], starts[move + 1]):
        if x[cells[e]] + sign * steps[e] < 0:
            return np.int64(0)
    for e in range(starts[move], starts[move + 1]):
        x[cells[e]] += sign * steps[e]
    return np.int64(1)
