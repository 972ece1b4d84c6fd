"""The order in which cells are published, where it is cut, and the curve that it traces."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.decision.survey.knapsack import knapsack
from discreet.errors import DataError
from discreet.look.result import Result
from discreet.look.words import number, percent
from discreet.risk.limits import Says, breaks
from discreet.table.cells import frame

FREE = -1.0  # neither risk nor loss: published first (Table 2)
CLOSE = 1e-12


class Edge(StrEnum):
    """What happens where the target lies within a configuration."""

    WHOLE = "whole"
    RANDOM = "random"
    BEST = "best"


EDGES = {
    Edge.WHOLE: "",
    Edge.RANDOM: ", one cell at random",
    Edge.BEST: ", the best set of whole cells",
}


@dataclass(frozen=True)
class CutRule:
    """One of: a constant ratio, a share of the data published, a share of the risk.

    With an `estimator` the count Y is replaced by an estimate; with a `floor` besides, cells are
    published where the estimate is above it.
    """

    ratio: float | None = None
    share: float | None = None
    risk: float | None = None
    edge: Edge = Edge.WHOLE
    estimator: str | None = None
    floor: float | None = None

    @classmethod
    def of(
        cls,
        ratio: float | None = None,
        share: float | None = None,
        risk: float | None = None,
        edge: str = "whole",
    ) -> CutRule:
        """Without any of the three, the ratio 1: publish where R1 < R0."""
        given = {"ratio": ratio, "share": share, "risk": risk}
        said = [name for name, value in given.items() if value is not None]
        if len(said) > 1:
            raise DataError(f"{' and '.join(said)} are given; choose one of them.")
        for name, value in given.items():
            most = math.inf if name == "ratio" else 1
            if value is not None and not 0 <= value <= most:
                upper = "on" if name == "ratio" else "to 1"
                raise DataError(f"{name} is {value!r}; give a number from 0 {upper}.")
        if edge not in [*Edge]:
            raise DataError(f"edge is {edge!r}; choose {', '.join(Edge)}.")
        return cls(1.0 if not said else ratio, share, risk, Edge(edge))

    def __str__(self) -> str:
        edge = EDGES[self.edge]
        if self.floor is not None:
            return f"publish where the {self.estimator} estimate of Y > {number(self.floor)}"
        plugged = f", with the {self.estimator} estimate of Y" if self.estimator else ""
        if self.share is not None:
            return f"at least {percent(self.share, 1)} of the data published{edge}{plugged}"
        if self.risk is not None:
            return f"at most {percent(self.risk, 1)} of the risk taken{edge}{plugged}"
        left, right = ("L1", "L0") if self.estimator else ("R1", "R0")
        return f"publish where {left} < {number(self.ratio or 0)} {right}{plugged}"

    def to_json(self) -> dict[str, Any]:
        name = "share" if self.share is not None else "risk" if self.risk is not None else "ratio"
        found = {name: getattr(self, name), "edge": str(self.edge)}
        if self.estimator is not None:
            found |= {"plug_in": self.estimator, "floor": self.floor}
        return found


def ranks(R1: Floats, R0: Floats) -> Floats:
    """R1 / R0, by which cells are ordered; without loss, first if without risk, else last."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = R1 / R0
    return np.where(R0 > 0, ratio, np.where(R1 > 0, np.inf, FREE))


def chosen(rule: CutRule, rank: Floats, risk: Floats, loss: Floats) -> Floats:
    """How probably each cell is published; `risk` and `loss` are what each adds to the totals."""
    if rule.ratio is not None:
        return np.asarray(~breaks(rank, rule.ratio, Says.OR_MORE), np.float64)
    if rule.edge is Edge.BEST:
        return best_set(rule, rank, risk, loss)[0]
    amount, target = (loss, rule.share) if rule.share is not None else (risk, rule.risk)
    order = np.argsort(rank, kind="stable")
    order = order[np.isfinite(rank[order])]
    sums = np.cumsum(amount[order])
    limit = float(target or 0) * float(amount.sum())
    slack = CLOSE * float(amount.sum())
    published = np.zeros(len(rank))
    if rule.edge is Edge.WHOLE:
        last = np.append(rank[order][1:] != rank[order][:-1], True)[: len(order)]
        ends = np.flatnonzero(last) + 1
        if rule.share is not None:
            enough = int(np.searchsorted(sums[ends - 1], limit - slack))
            taken = ends[min(enough, len(ends) - 1)] if len(ends) and limit > 0 else 0
        else:
            within = ends[sums[ends - 1] <= limit + slack]
            taken = within[-1] if len(within) else 0
        published[order[:taken]] = 1
    else:
        full = int(np.searchsorted(sums, limit + slack, side="right"))
        published[order[:full]] = 1
        if full < len(order) and amount[order[full]] > 0:
            before = sums[full - 1] if full else 0.0
            published[order[full]] = min(1.0, max(0.0, (limit - before) / amount[order[full]]))
    published[rank == FREE] = 1
    return published


def best_set(rule: CutRule, rank: Floats, risk: Floats, loss: Floats) -> tuple[Floats, float, bool]:
    """The best whole cells: most data within a risk, or least risk for a share of the data.

    Besides which, a bound on what any other set could have of it (data, or risk), and whether the
    set is proven to be best. To publish a share of the data at the least risk is to suppress the
    most risk within the rest of the data.
    """
    published = np.asarray(np.isfinite(rank) & (risk <= 0), np.float64)
    items = np.flatnonzero(np.isfinite(rank) & (risk > 0) & (loss > 0))
    data, slack = float(loss.sum()), CLOSE
    if rule.risk is not None:
        limit = (rule.risk + slack) * float(risk.sum())
        found = knapsack(loss[items], risk[items], limit)
        published[items] = found.taken
        bound = found.bound + float(loss[published > 0].sum()) - found.gain
    else:
        limit = (1 - float(rule.share or 0) + slack) * data
        found = knapsack(risk[items], loss[items], limit)
        published[items] = ~found.taken
        bound = float(risk[items].sum()) - found.bound
    return published, bound, found.proven


@dataclass(frozen=True, eq=False)
class Curve(Result):
    """Risk taken and loss left as ever more is published: from (0, all) to (all, 0).

    >>> curve = Curve.of(np.array([0.5, 0.9]), np.array([1.0, 1.0]), np.array([1.0, 2.0]))
    >>> curve
    Curve(3 points: with 20% of the risk, 72% of the data are suppressed)
    """

    risk: Floats
    loss: Floats

    @classmethod
    def of(cls, risk: Floats, loss: Floats, rank: Floats, *, ties: str = "together") -> Curve:
        """Cells in the order of `rank`; tied ones `together`, or as they are `listed`."""
        if ties not in ("together", "listed"):
            raise DataError(f"ties is {ties!r}; choose together or listed.")
        order = np.argsort(rank, kind="stable")
        taken, left = np.cumsum(risk[order]), loss.sum() - np.cumsum(loss[order])
        if ties == "together" and len(order):
            last = np.append(rank[order][1:] != rank[order][:-1], True)
            taken, left = taken[last], left[last]
        left = np.maximum(left, 0.0)
        left[-1:] = 0.0
        return cls(np.append(0.0, taken), np.append(loss.sum(), left))

    @property
    def relative(self) -> tuple[Floats, Floats]:
        """Both as shares of their largest value."""
        return _share(self.risk, self.risk[-1]), _share(self.loss, self.loss[0])

    def loss_at(self, risk: float, *, edge: str = "random") -> float:
        """The share suppressed if the risk is that share: one cell at random, or whole cells."""
        taken, left = self.relative
        if CutRule.of(risk=risk, edge=edge).edge is Edge.RANDOM:
            last = int(np.searchsorted(taken, risk, side="right"))
            if last == len(taken):
                return float(left[-1])
            part = (risk - taken[last - 1]) / (taken[last] - taken[last - 1])
            return float(left[last - 1] + part * (left[last] - left[last - 1]))
        return float(left[np.flatnonzero(taken <= risk * (1 + CLOSE))[-1]])

    def thinned(self, most: int) -> Curve:
        """At most so many of the points, evenly; chords of a convex curve lie above it."""
        if len(self.risk) <= most:
            return self
        rows = np.unique(np.rint(np.linspace(0, len(self.risk) - 1, most)).astype(int))
        return Curve(self.risk[rows], self.loss[rows])

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a point: absolute and relative."""
        risk, loss = self.relative
        columns = {"risk": self.risk, "loss": self.loss, "risk_share": risk, "loss_share": loss}
        return frame(columns, kind)

    def to_json(self) -> list[dict[str, float]]:
        """Both relative."""
        pairs = zip(*(column.tolist() for column in self.relative), strict=True)
        return [{"risk": risk, "loss": loss} for risk, loss in pairs]

    def plot(self, **options: Any) -> Any:
        from discreet.look.publishcharts import curve_chart

        return curve_chart({"this order": self._points()}, **options)

    def _points(self) -> list[tuple[float, float]]:
        few = self.thinned(400)
        return list(zip(*(column.tolist() for column in few.relative), strict=True))

    def __repr__(self) -> str:
        said = percent(self.loss_at(0.2))
        return (
            f"Curve({len(self.risk):,} points: with 20% of the risk, {said} of the data are "
            "suppressed)"
        )


def curves_chart(curves: Mapping[str, Curve], **options: Any) -> Any:
    """Several orders in one chart (Figure 1); the first is the one that is judged by."""
    from discreet.look.publishcharts import curve_chart

    return curve_chart({name: curve._points() for name, curve in curves.items()}, **options)


def _share(values: Floats, largest: float) -> Floats:
    return np.asarray(values / largest) if largest > 0 else np.zeros(len(values))
