"""What a fitted model of a table's cells can do, whatever its kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from discreet.arrays import Floats


class CellModel(Protocol):
    """A model of the cells of a table, in row-major order.

    `posterior` draws its parameters given the table, and yields the probabilities of all cells
    for each draw: counts drawn from them are posterior predictive.
    """

    @property
    def sizes(self) -> tuple[int, ...]: ...

    @property
    def parameters(self) -> int: ...

    @property
    def log_likelihood(self) -> float: ...

    @property
    def probabilities(self) -> Floats: ...

    def posterior(self, draws: int, rng: np.random.Generator) -> Iterator[Floats]: ...
