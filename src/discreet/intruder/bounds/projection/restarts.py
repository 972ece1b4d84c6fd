"""When the lanes of an iteration begin anew, and with which step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.intruder.bounds.projection.lanes import Lanes

EVERY = 25  # steps between two looks


class Pace:
    """When lanes begin anew, and with which step."""

    def __init__(self, lanes: Lanes) -> None:
        self.last = np.full(lanes.count, np.inf)
        self.before = np.full(lanes.count, np.inf)
        self.total = np.zeros(lanes.count, np.int64)
        self.since = np.zeros(lanes.count, np.int64)

    def fresh(self, lanes: Ints) -> None:
        self.last[lanes] = self.before[lanes] = np.inf
        self.total[lanes] = self.since[lanes] = 0

    def advance(self, lanes: Lanes) -> None:
        self.now = lanes.advance(EVERY)
        self.total += EVERY
        self.since += EVERY

    def restart(self, lanes: Lanes, moved: Floats, turned: Floats, may: NDArray[np.bool_]) -> bool:
        """Where the distance has fallen enough, or grows again, or it takes too long."""
        now, last = self.now, self.last
        again = (now <= 0.5 * last) | ((now <= 0.8 * last) & (now > self.before))
        again = may & (again | (self.since >= self.total / 5))
        self.before = np.where(again, np.inf, now)
        if not again.any():
            return False
        step = lanes.step
        ratio = np.sqrt(moved / np.maximum(turned, 1e-300))
        fine = (ratio > 0) & np.isfinite(ratio)
        lanes.restart(
            again, np.where(fine, np.sqrt(step * np.clip(ratio, step / 10, step * 10)), step)
        )
        self.last = np.where(again, now, last)
        self.since[again] = 0
        return True

    def keep(self, lanes: Ints) -> None:
        self.last, self.before = self.last[lanes], self.before[lanes]
        self.total, self.since = self.total[lanes], self.since[lanes]
