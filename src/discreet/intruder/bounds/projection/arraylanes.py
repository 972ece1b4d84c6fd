"""Many programs side by side on an accelerator, through what array libraries have in common.

A table is a matrix: rows are the categories of the first axes, columns those of the others. What
the released margins tell of a table u is R'(m * (R u C'))C, with R and C the orthonormal bases of
rows and columns and m the released coordinates; x = (y - s c) less what they tell of it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from discreet.arrays import Bools, Ints
from discreet.errors import DataError
from discreet.intruder.bounds.projection.coordinates import Coordinates
from discreet.intruder.bounds.projection.lanes import RELAX, Look, Program, Reals

DEVICE = "DISCREET_DEVICE"
MOST_LANES = 2048
ARRAYS = 6  # of lanes x cells: three of the state, x, and two to work in


def accelerator() -> tuple[Any, str | None] | None:
    """PyTorch or CuPy, if it has a device, and the device's name there."""
    asked = os.environ.get(DEVICE, "")
    if asked not in ("", "cpu", "gpu"):
        raise DataError(f"{DEVICE} is {asked!r}: say cpu or gpu, or unset it.")
    if asked == "cpu":
        return None
    for name, device in (("torch", "cuda"), ("cupy", None)):
        xp = _installed(name)
        if xp is not None and xp.cuda.is_available():
            return xp, device
    if asked == "gpu":
        raise DataError(
            f"{DEVICE} is 'gpu', but neither PyTorch nor CuPy finds one: "
            "install discreet[gpu] where there is one, or unset it."
        )
    return None


def _installed(name: str) -> Any:
    try:
        return import_module(name) if find_spec(name) else None
    except (ImportError, OSError):  # there, but not for this machine
        return None


def most_lanes(cells: int, xp: Any) -> int:
    """How many lanes fit in half of the device's free memory."""
    return max(1, min(MOST_LANES, _free(xp) // 2 // (ARRAYS * 8 * cells)))


def _free(xp: Any) -> int:
    """Bytes, with those that the library holds for later."""
    if hasattr(xp.cuda, "mem_get_info"):
        held = xp.cuda.memory_reserved() - xp.cuda.memory_allocated()
        return int(xp.cuda.mem_get_info()[0] + held)
    held = xp.get_default_memory_pool().free_bytes()
    return int(xp.cuda.runtime.memGetInfo()[0] + held)


def _host(values: Any) -> Reals:
    if hasattr(values, "get"):  # CuPy
        return np.asarray(values.get())
    return np.asarray(values.cpu() if hasattr(values, "cpu") else values)


def _basis(coordinates: Coordinates, axes: range) -> Reals:
    """The orthonormal products of some axes, one a row."""
    parts = zip(coordinates.normal(axes), (coordinates.shape[a] for a in axes), strict=False)
    return reduce(np.kron, (rows[:size, :size] for rows, size in parts), np.ones((1, 1)))


class ArrayLanes:
    """Lanes as arrays of lanes x cells, by `xp`: PyTorch, CuPy or numpy."""

    def __init__(
        self,
        coordinates: Coordinates,
        center: Reals,
        low: Ints,
        high: Ints,
        count: int,
        xp: Any,
        device: str | None = None,
    ) -> None:
        c, self._xp = coordinates, xp
        self._on = {} if device is None else {"device": device}
        self.shape, self._cells = (c.rows, c.columns), center.size
        released = c.released.reshape(self.shape)
        rows, columns = released.any(1), released.any(0)
        self._left = self._there(_basis(c, range(c.split))[rows])
        self._right = self._there(_basis(c, range(c.split, len(c.shape)))[columns])
        self._released = self._there(released[rows][:, columns].astype(np.float64))
        self._center = center.ravel()
        self._ends = np.stack([low.ravel() - self._center, high.ravel() - self._center])
        self._low, self._high = (self._there(end) for end in self._ends)
        self._state = [self._zeros(count) for _ in range(3)]
        self._since, self._step = np.zeros(count, np.int64), np.ones(count)
        self._make_room(count)

    def _make_room(self, count: int) -> None:
        self.count = count
        self._x, *self._room = (self._zeros(count) for _ in range(3))

    def _zeros(self, count: int) -> Any:
        return self._xp.zeros((count, self._cells), dtype=self._xp.float64, **self._on)

    def _there(self, values: Any) -> Any:
        return self._xp.asarray(np.ascontiguousarray(values), **self._on)

    @property
    def step(self) -> Reals:
        return self._step

    def load(
        self,
        programs: Sequence[Program | None],
        fresh: Ints,
        step: Reals,
        starts: Sequence[Reals | None],
    ) -> None:
        some = [p for p in programs if p is not None]
        parts = zip(*some, strict=True) if some else [()] * 4
        cells, self._cost, *ends = (np.concatenate([np.zeros(0), *part]) for part in parts)
        self._cell = cells.astype(np.int64)
        sizes = [0 if p is None else len(p.cells) for p in programs]
        self._lane = np.repeat(np.arange(len(sizes)), sizes)
        self._own = np.stack(ends) - self._center[self._cell]
        self._at = self._there(self._lane * self._cells + self._cell)
        self._box = [self._there(end) for end in self._own]
        given = [i for i, start in enumerate(starts) if start is not None]
        laid = [start.ravel() - self._center for start in starts if start is not None]
        for part in self._state:
            part[self._there(fresh)] = 0.0
            if given:
                part[self._there(fresh[given])] = self._there(laid)
        self._since[fresh], self._step[fresh] = 0, step
        self._prepare()

    def _prepare(self) -> None:
        self._push = self._there(self._step[self._lane] * self._cost)

    def _settled(self) -> Any:
        """x of all lanes."""
        self._x[:] = self._state[0]
        self._x.reshape(-1)[self._at] -= self._push
        return self._unreleased(self._x)

    def _unreleased(self, x: Any) -> Any:
        """Tables less what the released margins tell of them, in place."""
        xp, lanes, (rows, columns) = self._xp, len(x), self.shape
        few, some = self._released.shape
        turned, spectrum = self._space(0, lanes, rows, some), self._space(1, lanes, few, some)
        xp.matmul(x.reshape(lanes, rows, columns), self._right.T, out=turned)
        xp.matmul(self._left, turned, out=spectrum)
        spectrum *= self._released
        xp.matmul(self._left.T, spectrum, out=turned)
        kept = self._space(1, lanes, rows, columns)
        xp.matmul(turned, self._right, out=kept)
        x -= kept.reshape(lanes, -1)
        return x

    def _space(self, which: int, *shape: int) -> Any:
        return self._room[which].reshape(-1)[: math.prod(shape)].reshape(shape)

    def advance(self, steps: int) -> Reals:
        xp, (y, anchor, _), z = self._xp, self._state, self._room[0]
        flat, apart = z.reshape(-1), np.zeros(self.count)
        weight = 1.0 / (self._since[:, None] + 2 + np.arange(steps)[:, None, None])
        pull, rest = self._there(weight), self._there(1 - weight)
        for k in range(steps):
            x = self._settled()
            xp.add(x, x, out=z)
            z -= y
            own = xp.clip(flat[self._at], *self._box)
            xp.clip(z, self._low, self._high, out=z)
            flat[self._at] = own
            z -= x
            if k == steps - 1:
                apart = xp.sum(xp.multiply(z, z, out=x), 1)
            z *= RELAX
            y += z
            xp.multiply(anchor, pull[k], out=z)
            y *= rest[k]
            y += z
        self._since += steps
        return np.sqrt(_host(apart))

    def look(self, watched: Ints) -> tuple[Look, Reals]:
        xp, (y, anchor, before), (force, room) = self._xp, self._state, self._room
        x, step = self._settled(), self._there(self._step)[:, None]
        xp.subtract(y, x, out=force)
        force /= step
        under = xp.amax(xp.subtract(self._low, x, out=room), 1)
        over = xp.amax(xp.subtract(x, self._high, out=room), 1)
        proven = xp.matmul(xp.clip(force, 0.0, None, out=room), self._low)
        proven += xp.matmul(xp.clip(force, None, 0.0, out=room), self._high)
        xp.subtract(x, before, out=room)
        moved = xp.sum(xp.multiply(room, room, out=room), 1)
        xp.subtract(anchor, before, out=room)
        room /= step
        room -= force
        turned = xp.sum(xp.multiply(room, room, out=room), 1)
        spent, more = self._costly(_host(x.reshape(-1)[self._at]))
        outside = np.maximum(np.maximum(_host(under), _host(over)), 0.0)
        sure = _host(proven)
        found = Look(outside, sure, sure + more, spent, _host(moved), _host(turned))
        return found, (_host(x[:, self._there(watched)]) + self._center[watched]).T

    def _costly(self, x: Reals) -> tuple[Reals, Reals]:
        """What cells with a cost spend, and what their own ends prove beyond those of all."""
        y = _host(self._state[0].reshape(-1)[self._at])
        force = (y - x) / self._step[self._lane]
        low, high = force * (self._own - self._ends[:, self._cell])
        spent = np.bincount(self._lane, self._cost * x, self.count)
        return spent, np.bincount(self._lane, np.where(force > 0, low, high), self.count)

    def restart(self, again: Bools, step: Reals) -> None:
        y, anchor, before = self._state
        lanes = self._there(np.flatnonzero(again))
        x = self._settled()[lanes]
        there = y[lanes]
        there -= x
        there *= self._there((step / self._step)[again])[:, None]
        there += x
        before[lanes], y[lanes], anchor[lanes] = x, there, there
        self._step = np.where(again, step, self._step)
        self._since[again] = 0
        self._prepare()

    def forces(self, lanes: Ints) -> Reals:
        place = np.full(self.count, -1)
        place[lanes] = np.arange(len(lanes))
        mine = np.flatnonzero(place[self._lane] >= 0)
        lane, y = self._lane[mine], self._state[0][self._there(lanes)]
        x = y * 1.0
        at = self._there(place[lane] * self._cells + self._cell[mine])
        x.reshape(-1)[at] -= self._there(self._step[lane] * self._cost[mine])
        y -= self._unreleased(x)
        return _host(y) / self._step[lanes][:, None]

    def states(self, lanes: Ints) -> Reals:
        return _host(self._state[0][self._there(lanes)]) + self._center

    def keep(self, lanes: Ints) -> None:
        at = self._there(lanes)
        for i in range(len(self._state)):
            self._state[i] = self._state[i][at]
        self._since, self._step = self._since[lanes], self._step[lanes]
        self._make_room(len(lanes))
