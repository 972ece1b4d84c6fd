"""What a way to beliefs is asked, and the contract that every way keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

from numpy.typing import ArrayLike

from discreet.effort import UNLIMITED, Clock
from discreet.errors import DataError
from discreet.intruder.posterior.chains.augment import containing
from discreet.intruder.posterior.exact.blocks import Blocks
from discreet.intruder.posterior.result import Posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.lattice import closure

WORDS = ("saturated", "uniform", "average")


@dataclass(frozen=True, eq=False)
class Question:
    """What is to be believed under which model, and how far to go for it."""

    release: Release
    cells: Cells | None = None
    model: str | Formula = "saturated"
    prior: ArrayLike = 0.5
    weights: Literal["proper", "paper"] = "proper"
    draws: int | None = None
    standard_error: float | None = 0.002
    effort: float = 1.0
    clock: Clock = UNLIMITED
    seed: int = 0
    blocks: Blocks | None = None
    model_prior: str | Sequence[float] = "model"
    models: tuple[str | Formula, ...] | None = None

    @property
    def limits(self) -> dict[str, Any]:
        """How far to go, as arguments."""
        return {"effort": self.effort, "seconds": self.clock}

    @property
    def sampling(self) -> dict[str, Any]:
        return self.limits | {"standard_error": self.standard_error, "seed": self.seed}

    @cached_property
    def formula(self) -> Formula | None:
        """The model, which must contain the release; None if it is a word."""
        return None if self.model in WORDS else containing(self.release, self.model)

    @cached_property
    def own(self) -> bool:
        """Is the model the release itself?"""
        released = closure(self.release.formula.sets)
        return self.formula is not None and closure(self.formula.sets) == released

    @cached_property
    def closed(self) -> bool:
        """Is it that, and decomposable?"""
        return (
            self.own
            and self.formula is not None
            and self.formula.is_decomposable
            and not self.release.known
            and all(self.formula.contains([name]) for name in self.release.names)
        )

    @cached_property
    def cell_weights(self) -> CellWeights | None:
        """Where a table's weight is a product over its cells, whatever the parameters."""
        if self.model == "uniform":
            return CellWeights.uniform()
        if self.own:
            return CellWeights.multinomial()
        every = (1 << len(self.release.names)) - 1
        if self.model == "saturated" or (self.formula is not None and every in self.formula.sets):
            return CellWeights.dirichlet(self.prior)
        return None

    def tables(self) -> Blocks:
        """The tables that fit, listed once; refused if there are too many."""
        if isinstance(self._tables, DataError):
            raise self._tables
        return self._tables

    @cached_property
    def _tables(self) -> Blocks | DataError:
        try:
            return self.blocks or Blocks.of(self.release, clock=self.clock)
        except DataError as error:
            return error


class Method(Protocol):
    """A way to beliefs.

    What it returns has probabilities that sum to 1 and none outside the bounds, is the same for the
    same seed on every machine, and says if the clock stopped it. It raises a `DataError` where
    there is too much to do for its effort, so that another way can be tried.
    """

    @property
    def name(self) -> str:
        """What it is called."""

    def fits(self, question: Question, /) -> str | None:
        """None if it can be asked this; else why not, in a sentence."""

    def __call__(self, question: Question, /) -> Posterior:
        """The distribution of each cell."""


@dataclass(frozen=True)
class Way:
    """A method made of two functions."""

    name: str
    fits: Callable[[Question], str | None]
    believe: Callable[[Question], Posterior]

    def __call__(self, question: Question, /) -> Posterior:
        if reason := self.fits(question):
            raise DataError(reason)
        return self.believe(question)
