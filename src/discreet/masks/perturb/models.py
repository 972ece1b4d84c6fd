"""By which odds tables are drawn, and where these come from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.posterior.weights import CellWeights
from discreet.models.loglinear import LogLinear
from discreet.release.release import Release
from discreet.table.formula import Formula, as_formula
from discreet.table.table import Table

Named = str | Formula | CellWeights | None


class Source(StrEnum):
    """What the odds were made from."""

    MARGINS = "margins"  # what is kept, and nothing else
    TABLE = "table"  # the confidential one
    GIVEN = "given"  # whoever gave them


SAID = {
    Source.MARGINS: (
        "The draw depends on the table through what it keeps and nothing else: given that, it "
        "tells nothing of the table."
    ),
    Source.TABLE: (
        "The model was fitted to the confidential table beyond the margins that are kept: the draw "
        "tells more than they do, and needs a review."
    ),
    Source.GIVEN: (
        "The odds were given. The draw tells nothing beyond the margins if they were made without "
        "the confidential table, which is not proven and needs a review."
    ),
}


@dataclass(frozen=True, eq=False)
class Odds:
    """The weights of tables, and where they come from."""

    weights: CellWeights
    source: Source

    @property
    def own(self) -> bool:
        """Are they 1 / prod n!, those of the log-linear model of the release?"""
        return self.weights.log is CellWeights.multinomial().log and _even(self.weights.parameters)


def odds(release: Release, model: Named, table: Table | None) -> Odds:
    """The odds of a model.

    None is the log-linear model of the release: given its margins a table has the probability
    1 / prod n!, whatever the parameters (Haberman 1974). So it has under every model within it. A
    larger model is fitted to the table, with fitted counts m: prod m^n / n!.
    """
    if isinstance(model, CellWeights):
        return Odds(model, Source.GIVEN)
    if model is None:
        return Odds(CellWeights.multinomial(), Source.MARGINS)
    if model == "uniform":
        return Odds(CellWeights.uniform(), Source.MARGINS)
    if model == "saturated":
        return Odds(CellWeights.dirichlet(), Source.MARGINS)
    formula = as_formula(model, release.names).frontier
    if all(release.formula.contains(margin) for margin in formula.margins):
        return Odds(CellWeights.multinomial(), Source.MARGINS)
    if table is None:
        raise DataError(
            f"the model {formula} is larger than the release {release.formula}, and there is no "
            "table to fit it to; leave it out."
        )
    fit = LogLinear(formula).fit(table.reorder(release.names))
    name = f"log-linear model {formula} fitted to the table"
    return Odds(
        CellWeights(name, _fitted, fit.expected_array().astype(np.float64), True), Source.TABLE
    )


def _even(parameters: Floats | None) -> bool:
    return parameters is not None and bool((parameters == 1).all())


def _fitted(rows: NDArray[np.generic], counts: Ints) -> Floats:
    """n log m - log n!; nobody where m is 0."""
    from scipy.special import gammaln, xlogy

    return np.asarray(xlogy(counts, rows[:, 0].astype(np.float64)) - gammaln(counts + 1.0))
