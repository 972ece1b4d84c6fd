"""What a model says of a table, where that is a product over its cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.look.result import Shown
from discreet.table.keys import Codes

LogWeight = Callable[[NDArray[np.generic], Ints], Floats]


@dataclass(frozen=True, eq=False)
class CellWeights(Shown):
    """A table's probability is proportional to the product of its cells' weights.

    `log` takes a row for each cell and a count for each cell. Rows are the cells' `parameters`;
    where these are `additive`, the sum of some cells has the weight of their summed parameters.

    >>> import discreet as dc
    >>> dc.beliefs.CellWeights.dirichlet(0.5).name
    'saturated'
    >>> table, weights = dc.load("example:blond"), dc.beliefs.CellWeights.multinomial()
    >>> belief = dc.users.TableBelief(
    ...     dc.Release.margins(table, "Hair + Income"), dc.users.Model(weights))
    >>> round(belief.probability(table.dense()), 4)
    0.0389
    """

    name: str
    log: LogWeight
    parameters: Floats | None = None
    additive: bool = False
    prior: str | None = None

    @classmethod
    def uniform(cls) -> CellWeights:
        """Every table that fits is as probable as any other."""
        return cls("uniform", _dirichlet, np.ones(1), True)

    @classmethod
    def dirichlet(cls, prior: ArrayLike = 0.5) -> CellWeights:
        """The saturated model with a Dirichlet prior: Gamma(n + a) / (n! Gamma(a)).

        `prior` is the hyper-parameter of every cell, or an array of them in the table's shape.
        """
        a = np.asarray(prior, np.float64)
        if not (np.isfinite(a) & (a > 0)).all():
            wrong = a[~(np.isfinite(a) & (a > 0))].flat[0]
            raise DataError(f"a Dirichlet prior is {wrong}; give numbers above 0.")
        shown = f"{float(a):g}" if a.ndim == 0 else f"{a.size:,} numbers"
        return cls("saturated", _dirichlet, np.atleast_1d(a), True, shown)

    @classmethod
    def multinomial(cls) -> CellWeights:
        """The log-linear model whose margins are the release, whatever its parameters: 1 / n!.

        Given its sufficient statistics, a table has a multiple hypergeometric distribution.
        """
        return cls("log-linear model of the release", _poisson, np.ones(1), True)

    @classmethod
    def of(cls, log_weight: LogWeight, name: str) -> CellWeights:
        """Any function of a cell's codes and its count; takes and gives arrays, one row a cell."""
        return cls(name, log_weight)

    def rows(self, codes: Codes, shape: tuple[int, ...]) -> NDArray[np.generic]:
        """The parameters of the given cells, or their codes for a function of these."""
        if self.parameters is None:
            return codes
        if self.parameters.size == 1:
            return np.full((len(codes), 1), self.parameters.flat[0])
        if self.parameters.shape != shape:
            raise DataError(
                f"the prior has the shape {self.parameters.shape}, the table {shape}; give one "
                "number, or one for each cell."
            )
        return np.asarray(self.parameters[tuple(codes.T)])[:, None]

    def table(self, row: NDArray[np.generic], highest: int, lowest: int = 0) -> Floats:
        """The log weights of the counts lowest..highest of a cell."""
        counts = np.arange(lowest, highest + 1)
        found = np.asarray(self.log(np.repeat(row[None], len(counts), 0), counts), np.float64)
        if found.shape != counts.shape or np.isnan(found).any() or (found == np.inf).any():
            raise DataError(
                f"the weights {self.name!r} are not one number below infinity for each count; "
                "return an array of log weights, -inf for what is impossible."
            )
        return found


def _dirichlet(rows: NDArray[np.generic], counts: Ints) -> Floats:
    from scipy.special import gammaln

    a = rows[:, 0].astype(np.float64)
    return np.asarray(gammaln(counts + a) - gammaln(counts + 1.0) - gammaln(a))


def _poisson(rows: NDArray[np.generic], counts: Ints) -> Floats:
    from scipy.special import gammaln

    return np.asarray(counts * np.log(rows[:, 0].astype(np.float64)) - gammaln(counts + 1.0))
