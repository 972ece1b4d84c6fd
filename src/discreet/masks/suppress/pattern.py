"""Which cells are suppressed, what that costs, and how much less it could cost at best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Pattern:
    """Suppressed rows of a system; every pattern that protects costs `bound` or more.

    `stopped` says why the search ended before bound and cost met, none if they did.
    """

    hidden: NDArray[np.bool_]
    cost: float
    bound: float
    stopped: str | None = None

    @property
    def gap(self) -> float:
        """The share of the cost that a better pattern could save: 0 if this one is optimal."""
        return (self.cost - self.bound) / self.cost if self.cost > self.bound else 0.0

    def __repr__(self) -> str:
        said = "optimal" if self.gap == 0 else f"gap {self.gap:.1%}"
        return f"Pattern({int(self.hidden.sum()):,} cells hidden, cost {self.cost:g}, {said})"
