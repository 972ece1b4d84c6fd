"""What is asked of a projection, and what came out."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.intruder.bounds.projection.lanes import Program
from discreet.intruder.bounds.work import Work

Reals = NDArray[np.float64]


@dataclass(eq=False)
class Task:
    """How far cells rise (side 1) or fall (-1): to their goals, one by one or, `joined`, in sum.

    With `ends` a goal that no table reaches gives way to the next whole number; with `exact` the
    value itself is wanted. `bound` is proven: no table goes beyond; `force` is what proves it, or,
    where it was given up, what stood in the way. `start` is where the iteration begins, and ends,
    with the step `pace`. `share` is the steps that are left to it and to what it is split into.
    """

    cells: Ints
    side: int
    goals: Ints
    joined: bool = False
    ends: bool = False
    exact: bool = False
    bound: int | None = None
    value: float = math.nan
    reached: bool = False
    short: bool = False
    steps: int = 0
    start: Reals | None = field(default=None, repr=False)
    pace: float | None = None
    force: Reals | None = field(default=None, repr=False)
    share: Work | None = field(default=None, repr=False)

    @property
    def single(self) -> bool:
        """One count, of a cell or of a sum."""
        return self.joined or len(self.cells) == 1

    @property
    def goal(self) -> float:
        """In terms of the cost, which is to be small."""
        return -self.side * float(self.goals.sum())

    def program(self, low: Ints, high: Ints) -> Program:
        """Cells that rise one by one stop at their goals: there they have done enough."""
        least, most = low.ravel()[self.cells], high.ravel()[self.cells]
        if not self.joined and not self.exact:
            least = np.maximum(least, self.goals) if self.side < 0 else least
            most = np.minimum(most, self.goals) if self.side > 0 else most
        cost = np.full(len(self.cells), -float(self.side))
        return Program(self.cells, cost, least.astype(float), most.astype(float))


@dataclass(eq=False)
class Reached:
    """The least and the greatest value of the watched cells in tables that fit, and the tasks."""

    low: Reals
    high: Reals
    tasks: list[Task] = field(default_factory=list)

    def add(self, seen: Reals) -> None:
        np.minimum(self.low, seen.min(1), out=self.low)
        np.maximum(self.high, seen.max(1), out=self.high)
