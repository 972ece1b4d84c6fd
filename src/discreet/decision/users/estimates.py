"""Losses of a user, the estimate that is best under each, and how uncertain it leaves the user.

    estimate = argmin_e E L(e, X),    U = min_e E L(e, X)

Section 3 of Dobra, Fienberg & Trottini 2003 (BS7), after DeGroot 1962.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from discreet.decision.users.targets import Held, TableBelief
from discreet.errors import DataError
from discreet.intruder.belief.atoms import gathered, plain
from discreet.intruder.belief.belief import Belief, Kind

Floats = NDArray[np.float64]
NODES, SHARES = np.polynomial.legendre.leggauss(3)
GUESSES = 101  # tried for a value with a density
MOST_TRIED = 4_000_000  # acts x values


class Best(NamedTuple):
    """The optimal estimate, its expected loss, and whether nothing was sampled for it."""

    estimate: Any
    uncertainty: float
    exact: bool = True


class Loss(Protocol):
    """L(estimate, truth), and the estimate that is best for a belief."""

    def __call__(self, estimate: Any, truth: Any) -> float: ...

    def best(self, belief: Held) -> Best: ...


class ZeroOne:
    """1 unless the estimate is right: the most probable value, 1 - max p."""

    def __call__(self, estimate: Any, truth: Any) -> float:
        return float(not np.array_equal(estimate, truth))

    def best(self, belief: Held) -> Best:
        if isinstance(belief, TableBelief):
            first = int(np.argmax(belief.mass))
            return Best(belief.tables[first], 1 - float(belief.mass[first]))
        if belief.kind is Kind.DENSITY:
            raise DataError("no guess at a value with a density is right; use squared or absolute.")
        guess = belief.mode
        return Best(guess, max(0.0, 1 - belief.probability(guess)), belief.exact)


class Squared:
    """(e - x)^2, summed over cells: the mean, the variance."""

    def __call__(self, estimate: Any, truth: Any) -> float:
        return float(np.sum((np.asarray(estimate) - np.asarray(truth)) ** 2))

    def best(self, belief: Held) -> Best:
        if isinstance(belief, TableBelief):
            return _by_cells(self, belief)
        return Best(belief.mean, belief.variance, belief.exact)


class Absolute:
    """|e - x|, summed over cells: the median, the mean distance from it."""

    def __call__(self, estimate: Any, truth: Any) -> float:
        return float(np.sum(np.abs(np.asarray(estimate) - np.asarray(truth))))

    def best(self, belief: Held) -> Best:
        if isinstance(belief, TableBelief):
            return _by_cells(self, belief)
        middle = belief.quantile(0.5)
        values, mass = points(belief, middle)
        return Best(middle, float(mass @ np.abs(values - middle)), belief.exact)


class Lengths:
    """The length of an interval, summed over cells, infinite if the truth is outside (4.1).

    The best intervals are those of all possible values.
    """

    def __call__(self, estimate: Any, truth: Any) -> float:
        lower, upper = (np.asarray(end) for end in estimate)
        held = np.all((lower <= truth) & (np.asarray(truth) <= upper))
        return float(np.sum(upper - lower)) if held else math.inf

    def best(self, belief: Held) -> Best:
        if isinstance(belief, TableBelief):
            lower, upper = belief.bounds
            return Best((lower, upper), float(np.sum(upper - lower)))
        values = belief.values[belief.mass > 0]
        if belief.kind is Kind.DENSITY:
            near = np.convolve(belief.mass > 0, [1, 1, 1], "same") > 0
            values = belief.values[near]
        ends = (plain(values.min()), plain(values.max()))
        return Best(ends, float(ends[1] - ends[0]), belief.exact)


class Logarithmic:
    """-log of the probability that the estimate, a distribution, gives the truth (4.2).

    The best one is what is believed; its expected loss is the entropy.
    """

    def __call__(self, estimate: Any, truth: Any) -> float:
        if isinstance(estimate, Belief) and estimate.kind is Kind.DENSITY:
            chance = float(np.interp(truth, estimate.values, estimate.mass, 0, 0))
        else:
            chance = estimate.probability(truth)
        return -math.log(chance) if chance > 0 else math.inf

    def best(self, belief: Held) -> Best:
        return Best(belief, belief.entropy, belief.exact)


@dataclass(frozen=True, eq=False)
class Written:
    """Any loss L(estimate, truth) from 0 on; the acts are the possible values if not given.

    >>> belief = Belief.discrete([0, 1, 2], [0.2, 0.5, 0.3])
    >>> Written(lambda e, x: 3 * (x - e) if x > e else e - x).best(belief)
    Best(estimate=2, uncertainty=0.9, exact=True)
    """

    loss: Callable[[Any, Any], float]
    acts: Sequence[Any] | None = None

    def __call__(self, estimate: Any, truth: Any) -> float:
        found = float(self.loss(estimate, truth))
        if not found >= 0:
            raise DataError(f"the loss of {estimate} at {truth} is {found}; give numbers from 0.")
        return found

    def best(self, belief: Held) -> Best:
        values, mass = points(belief)
        acts = self.acts
        if acts is None:
            acts = [plain(value) for value in values]
            if isinstance(belief, Belief) and belief.kind is Kind.DENSITY:
                acts = [belief.quantile(p) for p in np.linspace(0, 1, GUESSES)]
        if not len(acts):
            raise DataError("the loss has no acts to choose from; give at least one.")
        if len(acts) * len(values) > MOST_TRIED:
            raise DataError(
                f"{len(acts):,} acts at {len(values):,} values are too many to try; give fewer "
                "acts."
            )
        listed = [plain(value) for value in values]
        risks = [sum(p * self(a, x) for p, x in zip(mass, listed, strict=True)) for a in acts]
        first = int(np.argmin(risks))
        listed_all = isinstance(belief, TableBelief)
        return Best(acts[first], float(risks[first]), listed_all or belief.exact)


@dataclass(frozen=True, eq=False)
class Measured:
    """An uncertainty function of the belief itself; the estimate is the belief."""

    uncertainty: Callable[[Belief], float]

    def __call__(self, estimate: Any, truth: Any) -> float:
        raise DataError("an uncertainty function gives no loss of one estimate; write the cost.")

    def best(self, belief: Held) -> Best:
        if isinstance(belief, TableBelief):
            raise DataError("an uncertainty function takes a belief about one value.")
        return Best(belief, float(self.uncertainty(belief)), belief.exact)


LOSSES: dict[str, Loss] = {
    "zero-one": ZeroOne(),
    "squared": Squared(),
    "absolute": Absolute(),
    "lengths": Lengths(),
    "log": Logarithmic(),
}


def loss_of(given: str | Loss | Callable[[Any, Any], float]) -> Loss:
    """A loss by its name, as it is, or from a function of estimate and truth."""
    if isinstance(given, str):
        if given not in LOSSES:
            raise DataError(f"there is no loss {given!r}; choose {', '.join(LOSSES)}.")
        return LOSSES[given]
    return cast(Loss, given) if hasattr(given, "best") else Written(given)


def points(belief: Held, *cuts: float) -> tuple[NDArray[Any], Floats]:
    """Values and their probabilities, none 0; a density at three points of each of its pieces.

    That is exact for squares, and for lines that break at `cuts`.
    """
    if isinstance(belief, TableBelief):
        values, mass = belief.tables, belief.mass
    elif belief.kind is not Kind.DENSITY:
        values, mass = gathered(belief.values, belief.mass)
    else:
        grid = np.union1d(belief.values, np.asarray(cuts, np.float64))
        middle, half = (grid[1:] + grid[:-1]) / 2, np.diff(grid) / 2
        values = (middle[:, None] + half[:, None] * NODES).ravel()
        heights = np.interp(values, belief.values, belief.mass)
        mass = heights * (half[:, None] * SHARES).ravel()
    return values[mass > 0], mass[mass > 0]


def _by_cells(loss: Loss, belief: TableBelief) -> Best:
    """Of a loss that is a sum over cells."""
    found = [loss.best(cell) for cell in belief.cells]
    estimate = np.array([each.estimate for each in found]).reshape(belief.shape)
    return Best(estimate, sum(each.uncertainty for each in found), belief.exact)
