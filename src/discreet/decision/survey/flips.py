"""How decisions change over what the data leave open: the prior, and the number of subclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Bools, Floats
from discreet.decision.survey.cell_losses import CellLoss, disclosure_loss
from discreet.decision.survey.curve import chosen, ranks
from discreet.decision.survey.publish import Publication
from discreet.errors import DataError
from discreet.intruder.population.sample_cell import PopulationCounts
from discreet.look.result import Result
from discreet.look.words import number, percent, plural
from discreet.models.domain_shares import BetaFit
from discreet.models.share_intervals import region
from discreet.models.subclasses import SubclassFit
from discreet.table.cells import frame

HALF = 0.5


@dataclass(frozen=True, eq=False)
class Flips(Result):
    """The decision at the estimates, and at `points` along the edge of what they may be.

    `always` are published at every point, `ever` at some; `low` and `high` are the least and the
    largest R1 / R0 that was found. Points are some: between them a ratio may lie a little further
    out.

    >>> import discreet as dc
    >>> y, n, N = [0, 1, 5, 2, 0, 3], [10, 10, 12, 10, 8, 10], [60, 40, 90, 80, 30, 70]
    >>> found = dc.survey.flips(dc.publish(n, N, y, ratio=0.4))
    >>> found
    Flips(3 of 6 cells flip at 48 points of the 95% region)
    >>> found.flipping.tolist()
    [1, 3, 5]
    """

    publication: Publication
    level: float
    points: int
    always: Bools
    ever: Bools
    low: Floats
    high: Floats

    @property
    def flipping(self) -> NDArray[np.int64]:
        """Rows that are published at some points and suppressed at others."""
        decided = self.publication.probability >= HALF
        return np.flatnonzero((self.ever | decided) & ~(self.always & decided))

    @property
    def careful(self) -> Bools:
        """Published at the estimates and at every point."""
        return np.asarray(self.always & self.publication.publish)

    def __repr__(self) -> str:
        many = f"{number(len(self.flipping))} of {plural(len(self.publication), 'cell')}"
        where = plural(self.points, "point")
        return f"Flips({many} flip at {where} of the {percent(self.level)} region)"

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a cell: n, N, y, its ratio with its range, the decision and whether it flips."""
        c, found = self.publication.counts, self.publication
        flips = np.isin(np.arange(len(found)), self.flipping)
        columns = {
            "n": c.n,
            "N": c.N,
            "y": c.y,
            "ratio": found.ratio,
            "low": self.low,
            "high": self.high,
            "publish": found.publish,
            "flips": flips,
        }
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        """`level`, `points`, the rows that flip (from 1), and each cell's range of ratios."""
        ends = zip(self.low.tolist(), self.high.tolist(), strict=True)
        return {
            "level": self.level,
            "points": self.points,
            "rows": [int(row) + 1 for row in self.flipping],
            "ratios": [[None if np.isnan(x) else x for x in pair] for pair in ends],
        }


def flips(
    publication: Publication,
    *,
    level: float = 0.95,
    covariates: Mapping[str, ArrayLike] | None = None,
    subclasses: SubclassFit | None = None,
    kind: str = "equal",
) -> Flips:
    """Decide again along the edge of the likelihood region of alpha and beta, and of S.

    A fitted prior is moved along its joint region (48 points); with `subclasses` the loss of
    disclosure is also moved to the ends of their intervals, of `equal` or `gamma` sizes. R1 / R0
    falls in alpha and rises in beta and S if the loss falls with Y, so that for a constant ratio
    the edge holds the extremes.

    >>> from discreet.decision.survey.publish import publish
    >>> found = publish([10, 10, 12], [60, 40, 90], [0, 1, 5], alpha=1, beta=9, ratio=0.6)
    >>> from discreet.models.subclasses import fit_subclasses
    >>> flips(found, subclasses=fit_subclasses([3, 2, 2, 1, 1, 1]))
    Flips(1 of 3 cells flip at 2 points of the 95% region)
    """
    priors = _priors(publication, level, covariates)
    losses: list[CellLoss] = [publication.losses[0]]
    if subclasses is not None:
        losses += [disclosure_loss(name) for name in subclasses.losses(kind)]
    if len(priors) + len(losses) == 2:
        raise DataError("prior and loss are given, not fitted; there is nothing to move them over.")
    nothing = publication.losses[1]
    always, ever = np.ones(len(publication), bool), np.zeros(len(publication), bool)
    low, high = (np.array(publication.ratio) for _ in range(2))
    points = [(c, loss) for c in priors for loss in losses][1:]
    for counts, loss in points:
        R1, R0 = loss.risk(counts), nothing.risk(counts)
        rank, weight = ranks(R1, R0), publication.weight
        published = chosen(publication.rule, rank, R1 * weight, R0 * weight) >= HALF
        always, ever = always & published, ever | published
        shown = np.where(R0 > 0, rank, np.nan)
        low, high = np.fmin(low, shown), np.fmax(high, shown)
    return Flips(publication, level, len(points), always, ever, low, high)


def _priors(
    publication: Publication, level: float, covariates: Mapping[str, ArrayLike] | None
) -> list[PopulationCounts]:
    """The counts as they are believed, and under every prior along the region."""
    prior, found = publication.prior, [publication.counts]
    if prior.fitted_to is None:
        return found
    if prior.names and covariates is None:
        raise DataError(
            f"the prior depends on {', '.join(prior.names)}; give the covariates of the cells."
        )
    for at in region(prior, level):
        moved: BetaFit = replace(prior, coefficients=at)
        alpha, beta = moved.parameters(covariates)
        c = publication.counts
        found.append(PopulationCounts.of(n=c.n, N=c.N, y=c.y, alpha=alpha, beta=beta))
    return found
