"""Publish a cell or suppress it: expected loss of the one against that of the other.

    R_d = E[ L_d(y, Y, n, N) | y ],   publish where R1 < c R0

(Zaslavsky & Horton 1998, section 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats
from discreet.decision.survey.cell_losses import (
    CellLoss,
    Function,
    disclosure_loss,
    nonpublication_loss,
)
from discreet.decision.survey.curve import Curve, CutRule, Edge, chosen, curves_chart, ranks
from discreet.errors import DataError
from discreet.intruder.population.sample_cell import PopulationCounts
from discreet.look.result import Paged
from discreet.look.words import number, percent, plural
from discreet.models.domain_shares import BetaFit, fit_beta
from discreet.table.cells import frame

DISCLOSURE, NONPUBLICATION = "uniques:10", "records"
ADDED = ("R0", "R1", "ratio", "publish")
MOST_POINTS = 10_001  # of the curve in JSON
LADDER = 12  # ratios that are offered


@dataclass(frozen=True, eq=False)
class Publication(Paged):
    """Cells with the risk of publishing (`R1`) and the loss of not publishing (`R0`) each.

    `probability` is that of being published, 0 or 1 but for the cell at a random edge; `publish` is
    what was decided. `weight` is how often a row occurs: 1, or the share of a configuration in a
    plan.

    >>> publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.8)
    Publication(2 of 3 cells published: 75% of the data, 73% of the risk; publish where R1 < 0.8 R0)
    """

    counts: PopulationCounts
    R1: Floats
    R0: Floats
    probability: Floats
    publish: NDArray[np.bool_]
    rule: CutRule
    prior: BetaFit
    losses: tuple[CellLoss, CellLoss]
    columns: Mapping[str, Any]
    weight: Floats

    @property
    def ratio(self) -> Floats:
        """R1 / R0, missing where R0 = 0."""
        rank = ranks(self.R1, self.R0)
        return np.where(self.R0 > 0, rank, np.nan)

    @cached_property
    def rank(self) -> Floats:
        return ranks(self.R1, self.R0)

    @property
    def order(self) -> NDArray[np.int64]:
        """Rows from the first to publish to the last; ties as listed."""
        return np.argsort(self.rank, kind="stable")

    @property
    def risk_taken(self) -> float:
        """Expected risk of what is published, as a share of that of publishing everything."""
        return _part(self.R1 * self.weight, self.probability)

    @property
    def data_published(self) -> float:
        """What is published, as a share of the loss of publishing nothing."""
        return _part(self.R0 * self.weight, self.probability)

    @property
    def cutoff(self) -> float:
        """The ratio at which publishing ends."""
        if self.rule.ratio is not None:
            return self.rule.ratio
        if self.rule.edge is Edge.BEST:
            random = replace(self.rule, edge=Edge.RANDOM)
            risk, loss = self.R1 * self.weight, self.R0 * self.weight
            inside = self.rank[chosen(random, self.rank, risk, loss) > 0]
        else:
            inside = self.rank[self.probability > 0]
        return max(0.0, float(inside.max())) if len(inside) else 0.0

    def curve(self, *, by: Publication | None = None, ties: str = "together") -> Curve:
        """The trade-off; in the order of another publication of the same cells, `by`."""
        rank = self.rank if by is None else by.rank
        if len(rank) != len(self):
            raise DataError(
                f"the order is of {plural(len(rank), 'cell')}, the losses of {number(len(self))}; "
                "compare the same cells."
            )
        return Curve.of(self.R1 * self.weight, self.R0 * self.weight, rank, ties=ties)

    def at(
        self,
        *,
        ratio: float | None = None,
        share: float | None = None,
        risk: float | None = None,
        edge: str = "whole",
        seed: int = 0,
    ) -> Publication:
        """The same cells cut elsewhere."""
        return self.cut(CutRule.of(ratio, share, risk, edge), seed)

    def under(
        self,
        *,
        disclosure: str | Function | CellLoss | None = None,
        nonpublication: str | Function | CellLoss | None = None,
    ) -> Publication:
        """The same cells judged by other losses."""
        first = self.losses[0] if disclosure is None else disclosure_loss(disclosure)
        second = self.losses[1] if nonpublication is None else nonpublication_loss(nonpublication)
        R1, R0 = first.risk(self.counts), second.risk(self.counts)
        return replace(self, R1=R1, R0=R0, losses=(first, second)).cut(self.rule, 0)

    def regret(
        self,
        others: Mapping[str, Publication],
        *,
        risk: float | None = None,
        edge: str = "random",
        kind: str = "pandas",
    ) -> Any:
        """What is suppressed at a risk if the order is that of other losses (Figure 1).

        The risk is by default what the rule allows, or what this cut takes by another rule.
        """
        if risk is None:
            risk = self.risk_taken if self.rule.risk is None else self.rule.risk
        orders = {"best": self, **others}
        left = [self.curve(by=other).loss_at(risk, edge=edge) for other in orders.values()]
        more = [share - left[0] for share in left]
        return frame({"order": list(orders), "suppressed": left, "more": more}, kind)

    def ratios(self, values: Iterable[float] | None = None, kind: str = "pandas") -> Any:
        """What each ratio would publish: cells, share of the data, share of the risk."""
        listed = self._ladder() if values is None else [float(value) for value in values]
        cuts = [self.at(ratio=value) for value in listed]
        columns = {
            "ratio": listed,
            "cells": [float(cut.probability @ cut.weight) for cut in cuts],
            "data": [cut.data_published for cut in cuts],
            "risk": [cut.risk_taken for cut in cuts],
        }
        return frame(columns, kind)

    def _ladder(self) -> list[float]:
        """1, 2 and 5 times powers of ten, from below the least ratio to above the largest."""
        inside = self.rank[np.isfinite(self.rank) & (self.rank > 0)]
        if not len(inside):
            return [1.0]
        low, high = np.quantile(inside, [0.01, 1.0])
        steps = [float(f"{d}e{k}") for k in range(-12, 13) for d in (1, 2, 5)]
        first = max([i for i, step in enumerate(steps) if step <= low], default=0)
        last = min([i for i, step in enumerate(steps) if step > high], default=len(steps) - 1)
        return steps[max(first, last - LADDER + 1) : last + 1]

    def cut(self, rule: CutRule, seed: int = 0) -> Publication:
        """The same cells cut by another rule."""
        risk, loss = self.R1 * self.weight, self.R0 * self.weight
        probability = chosen(rule, self.rank, risk, loss)
        drawn = probability == 1
        if rule.edge is Edge.RANDOM:
            drawn = np.random.default_rng(seed).random(len(self)) < probability
        return replace(self, rule=rule, probability=probability, publish=drawn)

    def __len__(self) -> int:
        return len(self.R1)

    def __repr__(self) -> str:
        many = f"{number(int(self.publish.sum()))} of {plural(len(self), 'cell')} published"
        shares = (
            f"{percent(self.data_published)} of the data, {percent(self.risk_taken)} of the risk"
        )
        return f"Publication({many}: {shares}; {self.rule})"

    def to_frame(self, kind: str = "pandas", *, ordered: bool = False) -> Any:
        """One row a cell: its columns, R0, R1, ratio, publish; `ordered` as they are published."""
        rows = self.order if ordered else slice(None)
        columns = {name: _picked(values, rows) for name, values in self.columns.items()}
        columns |= {"R0": self.R0[rows], "R1": self.R1[rows], "ratio": self.ratio[rows]}
        columns["publish"] = self.publish[rows]
        if self.rule.edge is Edge.RANDOM:
            columns["probability"] = self.probability[rows]
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        """`prior`, `cells` and `curve` (both relative); the rule, the losses and the totals."""
        columns = {name: _plain(values) for name, values in self.columns.items()}
        columns |= {"R0": self.R0.tolist(), "R1": self.R1.tolist()}
        loss = self.R0 > 0
        shown = zip(self.ratio.tolist(), loss.tolist(), strict=True)
        columns |= {"ratio": [r if some else None for r, some in shown]}
        columns["publish"] = self.publish.tolist()
        if self.rule.edge is Edge.RANDOM:
            columns["probability"] = self.probability.tolist()
        names = list(columns)
        return {
            "prior": self.prior.to_json(),
            "losses": {"disclosure": self.losses[0].name, "nonpublication": self.losses[1].name},
            "rule": self.rule.to_json(),
            "published": {
                "cells": int(self.publish.sum()),
                "data": self.data_published,
                "risk": self.risk_taken,
            },
            "cells": [
                dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ],
            "curve": self.curve().thinned(MOST_POINTS).to_json(),
        }

    def plot(self, others: Mapping[str, Publication] | None = None, **options: Any) -> Any:
        """The trade-off curve, this cut marked; the orders of other losses beside it."""
        curves = {"best order": self.curve()}
        curves |= {name: self.curve(by=other) for name, other in (others or {}).items()}
        at = (self.risk_taken, 1 - self.data_published)
        cells = f"{number(int(self.publish.sum()))} of {number(len(self))} cells published"
        finding = (
            f"{cells}: {percent(self.risk_taken)} of the disclosure risk, "
            f"{percent(self.data_published)} of the data"
        )
        return curves_chart(curves, at=at, **{"title": finding} | options)


def publish(
    n: ArrayLike,
    N: ArrayLike,
    y: ArrayLike,
    *,
    alpha: float | None = None,
    beta: float | None = None,
    prior: BetaFit | None = None,
    covariates: Mapping[str, ArrayLike] | None = None,
    disclosure: str | Function | CellLoss = DISCLOSURE,
    nonpublication: str | Function | CellLoss = NONPUBLICATION,
    ratio: float | None = None,
    share: float | None = None,
    risk: float | None = None,
    edge: str = "whole",
    seed: int = 0,
    columns: Mapping[str, Any] | None = None,
) -> Publication:
    """Decide which cells of a survey table to publish (Zaslavsky & Horton 1998).

        R_d = E[ L_d(y, Y, n, N) | y ],   publish where R1 < c R0

    Domain i has `N` people, `n` of them sampled, `y` of these in the class. The prior is beta with
    `alpha` and `beta`, a `BetaFit`, or fitted to the data, with `covariates` on the logit scale.
    Cells are published in the order of R1 / R0: those below `ratio`, or a `share` of the data, or
    up to a share `risk` of the disclosure risk. Cells with neither risk nor loss come first.

    >>> import discreet as dc
    >>> found = dc.publish([3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10, ratio=0.8)
    >>> found.publish
    array([False,  True,  True])
    >>> found.R1.round(2), found.R0.round(2)
    (array([0.85, 1.48, 0.76]), array([1., 2., 1.]))
    """
    found = _prior(n, N, y, alpha, beta, prior, covariates)
    a, b = found.parameters(covariates)
    counts = PopulationCounts.of(n=n, N=N, y=y, alpha=a, beta=b)
    named = {"n": counts.n, "N": counts.N, "y": counts.y} if columns is None else columns
    return decided(
        counts,
        found,
        (disclosure_loss(disclosure), nonpublication_loss(nonpublication)),
        CutRule.of(ratio, share, risk, edge),
        named,
        seed=seed,
    )


def decided(
    counts: PopulationCounts,
    prior: BetaFit,
    losses: tuple[CellLoss, CellLoss],
    rule: CutRule,
    columns: Mapping[str, Any],
    *,
    weight: Floats | None = None,
    seed: int = 0,
) -> Publication:
    """Risks, order and cut of cells with known beliefs."""
    if taken := [name for name in columns if name in ADDED]:
        raise DataError(f"the data have a column {taken[0]!r}, which is computed; rename it.")
    losses[0].check_falling(counts)
    R1, R0 = (loss.risk(counts) for loss in losses)
    weights = np.ones(len(counts)) if weight is None else weight
    none = np.zeros(len(counts))
    start = Publication(counts, R1, R0, none, none > 0, rule, prior, losses, dict(columns), weights)
    return start.cut(rule, seed)


def _prior(
    n: ArrayLike,
    N: ArrayLike,
    y: ArrayLike,
    alpha: float | None,
    beta: float | None,
    prior: BetaFit | None,
    covariates: Mapping[str, ArrayLike] | None,
) -> BetaFit:
    if (alpha is None) != (beta is None):
        lost, had = ("alpha", "beta") if alpha is None else ("beta", "alpha")
        raise DataError(f"{had} is given without {lost}; give both, or none to have them fitted.")
    if prior is not None and alpha is not None:
        raise DataError("a prior and alpha are given; give one of them.")
    if alpha is not None and beta is not None:
        if covariates:
            raise DataError("covariates are for a fitted prior; leave out alpha and beta.")
        return BetaFit.given(alpha, beta)
    if prior is not None:
        return prior
    checked = PopulationCounts.of(n=n, N=N, y=y, alpha=1, beta=1)
    return fit_beta(checked.y, checked.n, covariates=covariates)


def _part(amount: Floats, probability: Floats) -> float:
    total = float(amount.sum())
    return float(amount @ probability) / total if total > 0 else 0.0


def _picked(values: Any, rows: Any) -> Any:
    listed = np.asarray(values, object) if isinstance(values, list) else np.asarray(values)
    return listed[rows].tolist() if isinstance(values, list) else listed[rows]


def _plain(values: Any) -> list[Any]:
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    plain = (str, int, float, bool, type(None))
    return [value if isinstance(value, plain) else str(value) for value in listed]
