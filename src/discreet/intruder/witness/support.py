"""The cells that can change when only some people move."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.table.keys import Codes
from discreet.table.lattice import bits, maximal

MOST_FLAGS = 1 << 22
MOST_PARTIAL = 48


@dataclass(eq=False)
class Supports:
    """Cells that are mosaics of given cells: on each released margin they agree with one of them.

    If only the people in the given cells move, and every released margin stays as it is, then they
    end in these cells. `sets` are the maximal margins as bit sets.
    """

    shape: tuple[int, ...]
    sets: tuple[int, ...]
    _checks: dict[str, Any] = field(init=False)
    _flags: NDArray[np.int32] = field(init=False)
    _stamp: int = 0

    def __post_init__(self) -> None:
        levels, places, steps, offsets, starts, end = [0], [], [], [], [0], 0
        for level in range(len(self.shape)):
            for check in self._checks_at(level):
                columns = list(bits(check))
                sizes = [self.shape[column] for column in columns]
                if math.prod(sizes) + end > MOST_FLAGS * 8 or math.prod(sizes) > MOST_FLAGS:
                    continue  # a check less only leaves more cells in
                places += columns
                steps += [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
                starts.append(len(places))
                offsets.append(end)
                end += math.prod(sizes)
            levels.append(len(offsets))
        self._checks = {
            "levels": np.array(levels, np.int64),
            "places": np.array(places, np.int64),
            "steps": np.array(steps, np.int64),
            "offsets": np.array(offsets, np.int64),
            "starts": np.array(starts, np.int64),
        }
        self._flags = np.zeros(max(end, 1), np.int32)

    def _checks_at(self, level: int) -> list[int]:
        """The margins that end at a variable, and the largest beginnings of some others."""
        below = (1 << level + 1) - 1
        here = [s for s in self.sets if s >> level & 1]
        ending = [s for s in here if s <= below]
        begun = maximal(s & below for s in here if s > below)
        return [*begun[:MOST_PARTIAL], *ending]

    def mosaics(self, codes: Codes, most: int) -> Codes | None:
        """All mosaics of the given cells in row-major order; None if there are more than `most`."""
        from discreet._kernels.walks import mark, mosaics

        self._stamp += 1
        c = self._checks
        projection = c["places"], c["steps"], c["offsets"], c["starts"], self._stamp, self._flags
        mark(codes, *projection)
        found = np.empty((most, len(self.shape)), codes.dtype)
        number = mosaics(np.array(self.shape, np.int64), c["levels"], *projection, found)
        return None if number < 0 else found[:number]
