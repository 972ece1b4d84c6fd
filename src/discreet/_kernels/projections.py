"""Steps of a splitting method between the tables that keep margins and those that keep a box.

The tables of many programs lie side by side: arrays are columns x rows x lanes, a lane a program.
Rows are the categories of the first axes, columns those of the others. `spectrum` holds, for every
set of the first axes that is in some released margin, the columns of what is to be projected.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from discreet._kernels.vectors import WIDE, copy_eight, cross_sixteen
from discreet.arrays import Ints

Reals = NDArray[Any]


@njit(cache=True, fastmath=True, nogil=True)
def _cross(a: Reals, b: Reals) -> None:
    for i in range(a.size):
        u, v = a[i], b[i]
        a[i] = u + v
        b[i] = u - v


@njit(cache=True, fastmath=True, nogil=True)
def _cross_twice(a: Reals, b: Reals, c: Reals, d: Reals) -> None:
    for i in range(a.size):
        p, q = a[i] + b[i], a[i] - b[i]
        r, s = c[i] + d[i], c[i] - d[i]
        a[i], b[i], c[i], d[i] = p + r, q + s, p - r, q - s


@njit(cache=True, fastmath=True, nogil=True)
def _add(a: Reals, factor: Any, b: Reals) -> None:
    for i in range(a.size):
        a[i] += factor * b[i]


@njit(cache=True, fastmath=True, nogil=True)
def turn(part: Reals, sizes: Ints, bases: Reals, lanes: int, back: bool, room: Reals) -> None:
    """Each axis of a flat array in the basis of that axis, or back; the last axis is the fastest.

    Of two categories: sum and difference, without the factor that `back` and forth brings.
    """
    run, axis = lanes, len(sizes) - 1
    while axis >= 0:
        size = sizes[axis]
        four = axis > 2 and size == 2 and (sizes[axis - 3 : axis] == 2).all()
        if four and lanes % WIDE == 0:
            for at in range(0, part.size, 16 * run):
                for i in range(at, at + run, WIDE):
                    cross_sixteen(part, i, run)  # type: ignore[call-arg]
            run *= 16
            axis -= 4
            continue
        if size == 2 and axis > 0 and sizes[axis - 1] == 2:
            for at in range(0, part.size, 4 * run):
                _cross_twice(
                    part[at : at + run],
                    part[at + run : at + 2 * run],
                    part[at + 2 * run : at + 3 * run],
                    part[at + 3 * run : at + 4 * run],
                )
            run *= 4
            axis -= 2
            continue
        if size == 2:
            for at in range(0, part.size, 2 * run):
                _cross(part[at : at + run], part[at + run : at + 2 * run])
        elif size > 2:
            block = size * run
            for at in range(0, part.size, block):
                room[:block] = 0
                for i in range(size):
                    for j in range(size):
                        factor = bases[axis, j, i] if back else bases[axis, i, j]
                        _add(
                            room[i * run : i * run + run],
                            factor,
                            part[at + j * run : at + j * run + run],
                        )
                part[at : at + block] = room[:block]
        run *= size
        axis -= 1


@njit(cache=True, fastmath=True, nogil=True)
def keep_released(spectrum: Reals, released: Reals, sizes: Ints, bases: Reals, room: Reals) -> None:
    """Of each row of the spectrum, what the released margins say."""
    lanes = spectrum.shape[2]
    for row in range(len(released)):
        part = spectrum[row, : released.shape[1]].reshape(-1)
        turn(part, sizes, bases, lanes, False, room)
        for column in range(released.shape[1]):
            weight = released[row, column]
            for lane in range(lanes):
                part[column * lanes + lane] *= weight
        turn(part, sizes, bases, lanes, True, room)


@njit(cache=True, nogil=True)
def _move(source: Reals, start: int, target: Reals, place: int, lanes: int) -> None:
    if lanes % WIDE == 0:
        for lane in range(0, lanes, WIDE):
            copy_eight(source, start + lane, target, place + lane)  # type: ignore[call-arg]
    else:
        for lane in range(lanes):
            target[place + lane] = source[start + lane]


@njit(cache=True, nogil=True)
def _gather(spectrum: Reals, rows: Ints, column: int, part: Reals) -> None:
    _, columns, lanes = spectrum.shape
    flat = spectrum.reshape(-1)
    part[:] = 0
    for i in range(len(rows)):
        _move(flat, (i * columns + column) * lanes, part, rows[i] * lanes, lanes)


@njit(cache=True, nogil=True)
def _scatter(part: Reals, rows: Ints, column: int, spectrum: Reals) -> None:
    _, columns, lanes = spectrum.shape
    flat = spectrum.reshape(-1)
    for i in range(len(rows)):
        _move(part, rows[i] * lanes, flat, (i * columns + column) * lanes, lanes)


@njit(cache=True, fastmath=True, nogil=True)
def _pushed(
    y: Reals, column: int, starts: Ints, at: Ints, lane: Ints, cost: Reals, step: Reals, out: Reals
) -> None:
    """y - step * cost in one column."""
    lanes = y.shape[2]
    out[:] = y[column].reshape(-1)
    for i in range(starts[column], starts[column + 1]):
        out[at[i] * lanes + lane[i]] -= step[lane[i]] * cost[i]


@njit(cache=True, fastmath=True, nogil=True)
def _update(
    y: Reals, anchor: Reals, x: Reals, kept: Reals, pull: Reals, relax: float, low: Reals,
    high: Reals, apart: Reals,
) -> None:  # fmt: skip
    """One step of Halpern's iteration in one column; `apart` gathers |z - x|^2."""
    rows, lanes = y.shape
    for row in range(rows):
        least, most, at = low[row], high[row], row * lanes
        for lane in range(lanes):
            mine, here = y[row, lane], x[at + lane] - kept[at + lane]
            gap = min(max(here + here - mine, least), most) - here
            moved = mine + relax * gap
            apart[lane] += gap * gap
            y[row, lane] = moved + pull[lane] * (anchor[row, lane] - moved)


@njit(cache=True, fastmath=True, nogil=True)
def load_spectrum(
    y: Reals, step: Reals, starts: Ints, at: Ints, lane: Ints, cost: Reals, rows: Ints,
    sizes: Ints, bases: Reals, spectrum: Reals, room: Reals,
) -> None:  # fmt: skip
    """The spectrum of y - step * cost, before `keep_released`."""
    part = np.empty(y.shape[1] * y.shape[2], y.dtype)
    for column in range(y.shape[0]):
        _pushed(y, column, starts, at, lane, cost, step, part)
        turn(part, sizes, bases, y.shape[2], False, room)
        _scatter(part, rows, column, spectrum)


@njit(cache=True, fastmath=True, nogil=True)
def advance(
    steps: int, relax: float, y: Reals, anchor: Reals, since: Ints, step: Reals, low: Reals,
    high: Reals, starts: Ints, at: Ints, lane: Ints, cost: Reals, own: Reals, rows: Ints,
    released: Reals, sizes: Ints, bases: Reals, others: Ints, other_bases: Reals,
    spectrum: Reals, room: Reals,
) -> Reals:  # fmt: skip
    """So many steps from y, whose projected spectrum is there; |z - x|^2 of the last one.

    Cells with a cost have a box of their `own`.
    """
    columns, count, lanes = y.shape
    x, kept = np.empty(count * lanes, y.dtype), np.empty(count * lanes, y.dtype)
    apart, pull = np.zeros(lanes, y.dtype), np.empty(lanes, y.dtype)
    old = np.empty(len(cost), y.dtype)
    for _ in range(steps):
        apart[:] = 0
        for i in range(lanes):
            pull[i] = 1.0 / (since[i] + 2)
            since[i] += 1
        for column in range(columns):
            _gather(spectrum, rows, column, kept)
            turn(kept, sizes, bases, lanes, True, room)
            _pushed(y, column, starts, at, lane, cost, step, x)
            here = y[column]
            for i in range(starts[column], starts[column + 1]):
                old[i] = here[at[i], lane[i]]
            _update(here, anchor[column], x, kept, pull, relax, low[column], high[column], apart)
            for i in range(starts[column], starts[column + 1]):
                row, mine = at[i], lane[i]
                now = x[row * lanes + mine] - kept[row * lanes + mine]
                wide = now + now - old[i]
                gap = min(max(wide, low[column, row]), high[column, row]) - now
                apart[mine] -= gap * gap
                gap = min(max(wide, own[i, 0]), own[i, 1]) - now
                apart[mine] += gap * gap
                moved = old[i] + relax * gap
                here[row, mine] = moved + pull[mine] * (anchor[column, row, mine] - moved)
            _pushed(y, column, starts, at, lane, cost, step, x)
            turn(x, sizes, bases, lanes, False, room)
            _scatter(x, rows, column, spectrum)
        keep_released(spectrum, released, others, other_bases, room)
    return apart


@njit(cache=True, fastmath=True, nogil=True)
def look(
    y: Reals, anchor: Reals, before: Reals, step: Reals, low: Reals, high: Reals, starts: Ints,
    at: Ints, lane: Ints, cost: Reals, own: Reals, rows: Ints, sizes: Ints, bases: Reals,
    spectrum: Reals, room: Reals, watched: Ints, seen: Reals,
) -> tuple[Reals, Reals, Reals, Reals, Reals, Reals]:  # fmt: skip
    """How far x leaves the box, what r = (y - x) / step proves, and how both have moved.

    `seen` has the watched places of x.
    """
    columns, count, lanes = y.shape
    x, kept = np.empty(count * lanes, y.dtype), np.empty(count * lanes, y.dtype)
    outside, proven, capped = np.zeros(lanes), np.zeros(lanes), np.zeros(lanes)
    moved, turned, spent = np.zeros(lanes), np.zeros(lanes), np.zeros(lanes)
    next_watched = 0
    for column in range(columns):
        _gather(spectrum, rows, column, kept)
        turn(kept, sizes, bases, lanes, True, room)
        _pushed(y, column, starts, at, lane, cost, step, x)
        for row in range(count):
            least, most = low[column, row], high[column, row]
            for i in range(lanes):
                mine, place = y[column, row, i], row * lanes + i
                here = x[place] - kept[place]
                x[place] = here
                outside[i] = max(outside[i], max(least - here, here - most))
                force = (mine - here) / step[i]
                proven[i] += force * (least if force > 0 else most)
                old = before[column, row, i]
                old_force = (anchor[column, row, i] - old) / step[i]
                moved[i] += (here - old) * (here - old)
                turned[i] += (force - old_force) * (force - old_force)
        for i in range(starts[column], starts[column + 1]):
            row, mine = at[i], lane[i]
            here = x[row * lanes + mine]
            spent[mine] += cost[i] * here
            force = (y[column, row, mine] - here) / step[mine]
            side = 0 if force > 0 else 1
            shared = low[column, row] if force > 0 else high[column, row]
            capped[mine] += force * (own[i, side] - shared)
        while next_watched < len(watched) and watched[next_watched] < (column + 1) * count:
            row = watched[next_watched] - column * count
            seen[next_watched] = x[row * lanes : (row + 1) * lanes]
            next_watched += 1
    return outside, proven, proven + capped, spent, moved, turned


@njit(cache=True, fastmath=True, nogil=True)
def restart(
    again: NDArray[np.bool_], step: Reals, new: Reals, y: Reals, anchor: Reals, before: Reals,
    starts: Ints, at: Ints, lane: Ints, cost: Reals, rows: Ints, sizes: Ints, bases: Reals,
    spectrum: Reals, room: Reals,
) -> None:  # fmt: skip
    """Anchor some lanes where they are, with a new step: y = x + new * r."""
    columns, count, lanes = y.shape
    x, kept = np.empty(count * lanes, y.dtype), np.empty(count * lanes, y.dtype)
    for column in range(columns):
        _gather(spectrum, rows, column, kept)
        turn(kept, sizes, bases, lanes, True, room)
        _pushed(y, column, starts, at, lane, cost, step, x)
        for row in range(count):
            for i in range(lanes):
                if again[i]:
                    here = x[row * lanes + i] - kept[row * lanes + i]
                    there = here + (y[column, row, i] - here) * (new[i] / step[i])
                    before[column, row, i] = here
                    y[column, row, i] = there
                    anchor[column, row, i] = there
