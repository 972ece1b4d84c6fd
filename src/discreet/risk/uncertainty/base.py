"""An uncertainty function: the risk of the best estimate under a loss.

    estimate = argmin_e E L(e, X),    U(p) = min_e E L(e, X)

concave in p, unless the loss itself depends on p (Duncan & Lambert 1986, sections 4 and 5; Dobra,
Fienberg & Trottini 2003, section 3; after DeGroot 1962).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.intruder.belief.atoms import gathered
from discreet.intruder.belief.belief import Belief, Kind
from discreet.intruder.belief.valued import Valued
from discreet.intruder.posterior.whole_table import Held, TableBelief
from discreet.look.result import Shown
from discreet.risk.uncertainty.shares import Shares

NODES, SHARES = np.polynomial.legendre.leggauss(3)


class Best(NamedTuple):
    """The optimal estimate, its expected loss, and whether nothing was sampled for it.

    >>> import discreet as dc
    >>> belief = dc.Belief.discrete(["ill", "well"], [0.25, 0.75])
    >>> dc.uncertainty.Largest().best(belief)
    Best(estimate='well', uncertainty=0.25, exact=True)
    """

    estimate: Any
    uncertainty: float
    exact: bool = True


class Uncertainty(Shown, ABC):
    """A function of a belief: the larger, the less is known.

        estimate = argmin_e E L(e, X),    U(p) = min_e E L(e, X)

    for a loss L of an estimate and the truth (Duncan & Lambert 1986, sections 4 and 5).

    >>> import discreet as dc
    >>> belief = dc.Belief.discrete(["ill", "well"], [0.25, 0.75])
    >>> uncertainty = dc.uncertainty.uncertainty_named("entropy")
    >>> isinstance(uncertainty, dc.uncertainty.Uncertainty), round(uncertainty(belief), 3)
    (True, 0.562)
    """

    of_numbers: ClassVar[bool] = False  # asks for values that are numbers
    concave: bool = True  # else only quasi-concave: U of a mixture is at least the smaller one
    said: str = ""

    def __call__(self, belief: Held) -> float:
        return self.best(belief).uncertainty

    @abstractmethod
    def best(self, belief: Held) -> Best:
        """The estimate of least expected loss."""

    def loss(self, estimate: Any, truth: Any) -> float:
        """L(estimate, truth), where it does not depend on what is believed."""
        raise DataError(f"{self.said} gives no loss of one estimate; write the cost.")

    def shares(self, limit: float, categories: Sequence[str]) -> Shares | None:
        """The shares of categories with U >= limit, if that is a limit on each share."""
        return None

    def limit_words(self, limit: float, categories: Sequence[str] = ()) -> str:
        """What U >= limit means for the published shares."""
        bounds = self.shares(limit, categories) if categories else None
        return f"{self.said} is at least {limit:g}" if bounds is None else str(bounds)

    def __str__(self) -> str:
        return self.said


def points(belief: Held, *cuts: float) -> tuple[NDArray[Any], Floats]:
    """Values and their probabilities, none 0; a density at three points of each of its pieces.

    That is exact for squares, and for lines that break at `cuts`.
    """
    values: NDArray[Any]
    if isinstance(belief, TableBelief):
        values, mass = belief.tables, belief.mass
    elif isinstance(belief, Valued):
        values, mass = belief.nodes(*cuts)
    elif belief.kind is not Kind.DENSITY:
        values, mass = gathered(belief.values, belief.mass)
    else:
        grid = np.union1d(belief.values, np.asarray(cuts, np.float64))
        middle, half = (grid[1:] + grid[:-1]) / 2, np.diff(grid) / 2
        values = (middle[:, None] + half[:, None] * NODES).ravel()
        heights = np.interp(values, belief.values, belief.mass)
        mass = heights * (half[:, None] * SHARES).ravel()
    return values[mass > 0], mass[mass > 0]


def listed_shares(belief: Held, what: str) -> tuple[NDArray[Any], Floats]:
    """The values that are possible and their probabilities; a density has none."""
    if isinstance(belief, TableBelief):
        return belief.tables, belief.mass
    if belief.kind is Kind.DENSITY:
        raise DataError(f"a density has no {what}; use variance or relative, or group the values.")
    if belief.kind is Kind.DRAWS:
        return gathered(belief.values, belief.mass)
    return belief.values, belief.mass


def by_cells(uncertainty: Uncertainty, belief: TableBelief) -> Best:
    """Of a loss that is a sum over cells."""
    found = [uncertainty.best(cell) for cell in belief.cells]
    estimate = np.array([each.estimate for each in found]).reshape(belief.shape)
    return Best(estimate, sum(each.uncertainty for each in found), belief.exact)


def one_value(belief: Held, said: str) -> Belief:
    """A belief about one value, not about a whole table."""
    if isinstance(belief, TableBelief):
        raise DataError(f"{said} takes a belief about one value; ask about cells.")
    return belief


def check_losses(losses: Any, what: str, *, infinite: bool = False) -> None:
    listed = np.asarray(losses, np.float64)
    wrong = ~(listed >= 0) | (np.isinf(listed) & (not infinite))
    if wrong.any():
        place = tuple(int(i) + 1 for i in np.argwhere(wrong)[0])
        at = ", ".join(map(str, place))
        raise DataError(f"{what} is {listed[wrong][0]} at place {at}; losses are numbers from 0.")
