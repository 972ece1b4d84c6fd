"""Latent class models: within a class all variables are independent.

    p(x) = sum_c w_c prod_j lambda_cj(x_j)

(Lazarsfeld & Henry 1968; Goodman 1974). Fitted by expectation and maximisation in turn over the
distinct cells; its posterior is drawn by allocating the people of each cell to classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.look.progress import track
from discreet.look.result import Result
from discreet.models.categories import Categories, check_at_least, check_fit
from discreet.spreading import spread
from discreet.table.table import Table

PRIOR = 1.0  # of shares and responses: uniform Dirichlet distributions
SETTLE, THIN = 100, 5  # sweeps before the first draw, and from one to the next
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class LatentClasses(Result):
    """A latent class model at the best maximum of the likelihood that was found.

    `shares` are those of the classes, largest first; `responses` has a row for each category of
    each variable and a column a class. `trials` are the log-likelihoods of all starts after
    their trial run. The maximum is the best that was found: there may be a higher one.

    >>> from discreet.table.load import load
    >>> table, rng = load("example:czech"), np.random.default_rng(1)
    >>> model = LatentClasses.fit(table, 2, rng=rng, starts=3)
    >>> model
    LatentClasses(2 classes, 13 parameters: log-likelihood -6,698.5...)
    >>> round(float(model.probabilities.sum()), 9)
    1.0
    """

    table: Table
    shares: Floats = field(repr=False)
    responses: Floats = field(repr=False)
    log_likelihood: float
    trials: Floats = field(repr=False)
    iterations: int
    converged: bool

    @classmethod
    def fit(
        cls,
        table: Table,
        classes: int,
        *,
        rng: np.random.Generator,
        starts: int = 10,
        trial: int = 100,
        iterations: int = 3_000,
        tolerance: float = 1e-4,
    ) -> LatentClasses:
        """Maximum likelihood from the best of several random starts.

        Each start has `trial` iterations; the best goes on until an iteration gains less than
        `tolerance`, or `iterations` are done. What the table rules out as impossible is a cell
        like any other.
        """
        check_fit(table, "classes", classes, 1)
        check_at_least(1, starts=starts, trial=trial, iterations=iterations)
        cells = _Cells(table)
        found = spread(_tried, rng.spawn(starts), given=(cells, classes, trial))
        tried = [_State.of(cells, *one) for one in track(found, "starts")]
        state = max(tried, key=lambda each: each.log_likelihood)
        done, gain = 0, np.inf
        while done < iterations and gain >= tolerance:
            after = state.step()
            gain, state, done = after.log_likelihood - state.log_likelihood, after, done + 1
        order = np.argsort(-state.shares, kind="stable")
        return cls(
            table,
            state.shares[order],
            np.ascontiguousarray(state.responses[:, order]),
            state.log_likelihood,
            np.array([each.log_likelihood for each in tried]),
            trial + done,
            bool(gain < tolerance),
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.table.shape

    @property
    def classes(self) -> int:
        return len(self.shares)

    @property
    def parameters(self) -> int:
        """Free shares, and free responses of every class."""
        return self.classes - 1 + self.classes * sum(size - 1 for size in self.sizes)

    @cached_property
    def probabilities(self) -> Floats:
        """Of all cells, in row-major order."""
        return _probabilities(Categories(self.sizes), self.shares, self.responses)

    def posterior(self, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Cell probabilities from the posterior, by Gibbs sampling from the maximum on.

        The prior is uniform: Dirichlet(1, ..., 1) for the shares and for the responses of each
        class and variable. A draw is `THIN` sweeps after the one before, so that draws depend a
        little on each other; the chain stays near its start if there are other maxima far away.
        """
        check_at_least(1, draws=draws)
        return self._draw(draws, rng)

    def _draw(self, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
        cells = _Cells(self.table)
        state = _State.of(cells, self.shares, self.responses)
        for sweep in range(SETTLE + (draws - 1) * THIN + 1):
            state = state.draw(rng)
            if sweep >= SETTLE and (sweep - SETTLE) % THIN == 0:
                yield _probabilities(cells.categories, state.shares, state.responses)

    def __repr__(self) -> str:
        note = "" if self.converged else ", not converged"
        return (
            f"LatentClasses({self.classes:,} classes, {self.parameters:,} parameters: "
            f"log-likelihood {self.log_likelihood:,.2f}{note})"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a class and category."""
        of = Categories(self.sizes)
        return of.to_frame(self.table, self.responses, "class", self.shares, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "model": "latent classes",
            "classes": self.classes,
            "parameters": self.parameters,
            "log_likelihood": self.log_likelihood,
            "starts": len(self.trials),
            "iterations": self.iterations,
            "converged": self.converged,
        }


class _Cells:
    """The distinct cells as rows of zeros and ones, a column a category."""

    def __init__(self, table: Table) -> None:
        self.categories = Categories(table.shape)
        self.counts = table.counts.astype(np.int64)
        self.has = np.zeros((len(table), self.categories.rows))
        np.put_along_axis(self.has, self.categories.places(table), 1.0, 1)
        self.weighed = np.ascontiguousarray((self.has * self.counts[:, None]).T)


@dataclass(frozen=True, eq=False)
class _State:
    """Parameters, and what they say of each cell: its chance to come from each class."""

    cells: _Cells
    shares: Floats
    responses: Floats
    chances: Floats
    log_likelihood: float

    @classmethod
    def of(cls, cells: _Cells, shares: Floats, responses: Floats) -> _State:
        logs = cells.has @ np.log(np.maximum(responses, TINY))
        logs += np.log(np.maximum(shares, TINY))
        top = logs.max(1, keepdims=True)
        chances = np.exp(logs - top)
        total = chances.sum(1, keepdims=True)
        log_likelihood = float(cells.counts @ (np.log(total) + top)[:, 0])
        return cls(cells, shares, responses, chances / total, log_likelihood)

    @classmethod
    def start(cls, cells: _Cells, classes: int, rng: np.random.Generator) -> _State:
        responses = cells.categories.draw(np.ones((cells.categories.rows, classes)), rng)
        return cls.of(cells, np.full(classes, 1 / classes), responses)

    def step(self) -> _State:
        """Expectation and maximisation: the likelihood never falls (Dempster et al. 1977)."""
        people = self.cells.counts @ self.chances
        responses = self.cells.categories.shares(self.cells.weighed @ self.chances)
        return _State.of(self.cells, people / people.sum(), responses)

    def draw(self, rng: np.random.Generator) -> _State:
        """People of each cell to classes, then shares and responses given them."""
        people = rng.multinomial(self.cells.counts, self.chances).astype(np.float64)
        shares = rng.dirichlet(people.sum(0) + PRIOR)
        responses = self.cells.categories.draw(self.cells.has.T @ people + PRIOR, rng)
        return _State.of(self.cells, shares, responses)


def _tried(
    rng: np.random.Generator, cells: _Cells, classes: int, steps: int
) -> tuple[Floats, Floats]:
    """Shares and responses after so many steps from a random start."""
    state = _State.start(cells, classes, rng)
    for _ in range(steps):
        state = state.step()
    return state.shares, state.responses


def _probabilities(categories: Categories, shares: Floats, responses: Floats) -> Floats:
    """Class by class, so that no more than a table is held."""
    blocks = list(categories.blocks(responses))
    total = np.zeros(np.prod(categories.sizes, dtype=np.int64))
    for place, share in enumerate(shares):
        cells = np.array([share])
        for block in blocks:
            cells = np.multiply.outer(cells, block[:, place]).reshape(-1)
        total += cells
    return total
