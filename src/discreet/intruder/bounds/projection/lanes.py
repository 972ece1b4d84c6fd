"""Many programs side by side, a lane each: the steps of the method, on the processor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Bools, Ints
from discreet.intruder.bounds.projection.coordinates import Coordinates

Reals = NDArray[Any]
RELAX = 1.98
WIDE = 8  # lanes in a vector


class Program(NamedTuple):
    """The least sum of costs over some cells, given by their places in the table.

    `low` and `high` are the ends that these cells keep, within the box of all.
    """

    cells: Ints
    cost: Reals
    low: Reals
    high: Reals


class Look(NamedTuple):
    """Of each lane: how far x leaves the box, what is proven and spent, how x and r have moved.

    `capped`: what is proven of tables in which the cells with a cost keep their own ends.
    """

    outside: Reals
    proven: Reals
    capped: Reals
    spent: Reals
    moved: Reals
    turned: Reals


class Lanes(Protocol):
    """State of the programs: y, its anchor, and x at the last restart, as differences from a
    centre that keeps the margins; see `settle`.
    """

    count: int

    def load(
        self,
        programs: Sequence[Program | None],
        fresh: Ints,
        step: Reals,
        starts: Sequence[Reals | None],
    ) -> None:
        """The programs of all lanes; `fresh` ones begin at their start, or at the centre."""

    def advance(self, steps: int) -> Reals:
        """So many steps; |z - x| of the last."""

    def look(self, watched: Ints) -> tuple[Look, Reals]:
        """How it stands, and x at the watched cells: cells x lanes."""

    def restart(self, again: Bools, step: Reals) -> None:
        """Anchor some lanes where they are, with a new step."""

    def forces(self, lanes: Ints) -> Reals:
        """r = (y - x) / step, of some lanes, over all cells."""

    def states(self, lanes: Ints) -> Reals:
        """y of some lanes, as tables, to start from in a similar program."""

    def keep(self, lanes: Ints) -> None:
        """These lanes alone."""

    @property
    def step(self) -> Reals:
        """The step sizes."""


class CoreLanes:
    """Lanes on one core: the programs are the fastest axis, so that vector units hold them."""

    def __init__(
        self, coordinates: Coordinates, center: Reals, low: Ints, high: Ints, count: int
    ) -> None:
        c, self.count = coordinates, count
        self.shape = (c.rows, c.columns)
        two = 2.0 ** -sum(size == 2 for size in c.shape)
        released = c.released.reshape(self.shape)
        self._rows = np.flatnonzero(released.any(1))
        self._released = np.ascontiguousarray(np.where(released[self._rows], two, 0.0))
        self._axes = (np.array(c.shape[: c.split], np.int64), c.normal(range(c.split)))
        others = range(c.split, len(c.shape))
        self._others = (np.array(c.shape[c.split :], np.int64), c.normal(others))
        self._center = center.ravel()
        self._low, self._high = self._laid(low - center), self._laid(high - center)
        self._allocate(count)

    def _allocate(self, count: int) -> None:
        rows, columns = self.shape
        self.count = count
        self._room = np.zeros(max(rows, columns) * count)
        # a line more than the columns, so that rows do not share a place in the cache
        self._spectrum = np.zeros((len(self._rows), columns + 1, count))
        self._state = np.zeros((3, columns, rows, count))
        self._since, self._step = np.zeros(count, np.int64), np.ones(count)

    def _laid(self, values: Reals) -> Reals:
        return np.ascontiguousarray(values.reshape(self.shape).T, np.float64)

    def _places(self, cells: Ints) -> Ints:
        rows, columns = self.shape
        return cells % columns * rows + cells // columns

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
        rows, columns = self.shape
        some = [p for p in programs if p is not None]
        empty = np.zeros(0)
        cells = np.concatenate([empty, *(p.cells for p in some)]).astype(np.int64)
        places = self._places(cells)
        order = np.argsort(places, kind="stable")
        sizes = [0 if p is None else len(p.cells) for p in programs]
        ends = np.stack([np.concatenate([empty, *(p[2 + side] for p in some)]) for side in (0, 1)])
        self._costs = (
            np.searchsorted(places[order] // rows, np.arange(columns + 1)),
            places[order] % rows,
            np.repeat(np.arange(len(sizes)), sizes)[order],
            np.concatenate([empty, *(p.cost for p in some)])[order],
        )
        self._own = np.ascontiguousarray((ends - self._center[cells]).T[order])
        for lane, start in zip(fresh, starts, strict=True):
            laid = 0.0 if start is None else self._laid(start - self._center)
            self._state[:, :, :, lane] = laid
        self._since[fresh], self._step[fresh] = 0, step
        self._prepare()

    def _prepare(self) -> None:
        from discreet._kernels.projections import keep_released, load_spectrum

        load_spectrum(
            self._state[0], self._step, *self._costs, self._rows, *self._axes, self._spectrum,
            self._room,
        )  # fmt: skip
        keep_released(self._spectrum, self._released, *self._others, self._room)

    def advance(self, steps: int) -> Reals:
        from discreet._kernels.projections import advance

        y, anchor, _ = self._state
        apart = advance(
            steps, RELAX, y, anchor, self._since, self._step, self._low, self._high, *self._costs,
            self._own, self._rows, self._released, *self._axes, *self._others, self._spectrum,
            self._room,
        )  # fmt: skip
        return np.sqrt(np.maximum(apart, 0.0))

    def look(self, watched: Ints) -> tuple[Look, Reals]:
        from discreet._kernels.projections import look

        places = self._places(watched)
        order = np.argsort(places, kind="stable")
        seen, laid = np.empty((2, len(watched), self.count))
        y, anchor, before = self._state
        found = look(
            y, anchor, before, self._step, self._low, self._high, *self._costs, self._own,
            self._rows, *self._axes, self._spectrum, self._room, places[order], laid,
        )  # fmt: skip
        seen[order] = laid
        return Look(*found), seen + self._center[watched][:, None]

    def restart(self, again: Bools, step: Reals) -> None:
        from discreet._kernels.projections import restart

        y, anchor, before = self._state
        restart(
            again, self._step, step, y, anchor, before, *self._costs, self._rows, *self._axes,
            self._spectrum, self._room,
        )  # fmt: skip
        self._step = np.where(again, step, self._step)
        self._since[again] = 0
        self._prepare()

    def forces(self, lanes: Ints) -> Reals:
        cells = np.arange(self.shape[0] * self.shape[1])
        x = self.look(cells)[1][:, lanes] - self._center[:, None]
        y = self._state[0].transpose(2, 1, 0).reshape(self.count, -1)[lanes]
        return np.asarray((y - x.T) / self._step[lanes][:, None])

    def states(self, lanes: Ints) -> Reals:
        y = self._state[0][:, :, lanes].transpose(2, 1, 0)
        return np.asarray(y.reshape(len(lanes), -1) + self._center)

    def keep(self, lanes: Ints) -> None:
        state, since, step = self._state, self._since, self._step
        self._allocate(len(lanes))
        self._state[:] = state[:, :, :, lanes]
        self._since[:], self._step[:] = since[lanes], step[lanes]
