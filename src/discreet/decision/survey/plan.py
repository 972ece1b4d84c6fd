"""Before the survey: which configurations of types of domains would be published (Table 2)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from discreet.decision.survey.cell_losses import (
    CellLoss,
    Function,
    disclosure_loss,
    nonpublication_loss,
)
from discreet.decision.survey.curve import CutRule
from discreet.decision.survey.publish import DISCLOSURE, NONPUBLICATION, Publication, decided
from discreet.errors import DataError
from discreet.intruder.population.sample_cell import PopulationCounts
from discreet.models.domain_shares import BetaFit
from discreet.table.cells import frame

MOST = 1 << 20
CLOSE = 1e-6
KEYS = {"P(n, N)": "P_type", "P(y | n, N)": "P_y", "P R1": "P_R1", "P R0": "P_R0"}


def plan(
    types: Iterable[tuple[int, int, float]],
    *,
    alpha: float,
    beta: float,
    disclosure: str | Function | CellLoss = DISCLOSURE,
    nonpublication: str | Function | CellLoss = NONPUBLICATION,
    ratio: float | None = None,
    share: float | None = None,
    risk: float | None = None,
    edge: str = "whole",
) -> Publication:
    """Types of domains (n, N, share of the domains), each with every y that its sample can have.

    >>> plan([(3, 8, 0.25), (5, 20, 0.75)], alpha=1, beta=10, risk=0.5)
    Publication(8 of 10 cells published: 45% of the data, 38% of the risk; at most 50.0% of the
        risk taken)
    """
    listed = [tuple(kind) for kind in types]
    if not listed or any(len(kind) != 3 for kind in listed):
        raise DataError("a plan needs types of domains, each as (n, N, share).")
    shares = np.array([kind[2] for kind in listed], np.float64)
    if not (shares >= 0).all() or abs(shares.sum() - 1) > CLOSE:
        raise DataError(f"the shares of the types sum to {shares.sum():.9g}, not to 1.")
    drawn = PopulationCounts.of(
        n=[kind[0] for kind in listed],
        N=[kind[1] for kind in listed],
        y=0,
        alpha=alpha,
        beta=beta,
    )
    sizes = drawn.n + 1
    if sizes.sum() > MOST:
        raise DataError(
            f"the types have {int(sizes.sum()):,} configurations, more than {MOST:,}; plan with "
            "smaller samples."
        )
    kind = np.repeat(np.arange(len(listed)), sizes)
    y = np.concatenate([np.arange(size) for size in sizes])
    n, N = drawn.n[kind], drawn.N[kind]
    before = PopulationCounts.of(n=0, N=n, y=0, alpha=alpha, beta=beta)
    chance = before.chance(y)
    counts = PopulationCounts.of(n=n, N=N, y=y, alpha=alpha, beta=beta)
    columns = {"n": n, "N": N, "y": y, "P(n, N)": shares[kind], "P(y | n, N)": chance}
    return decided(
        counts,
        BetaFit.given(alpha, beta),
        (disclosure_loss(disclosure), nonpublication_loss(nonpublication)),
        CutRule.of(ratio, share, risk, edge),
        columns,
        weight=shares[kind] * chance,
    )


def read_types(text: str) -> list[tuple[int, int, float]]:
    """`n:N` or `n:N:domains`, with commas between: sampled, people, how many such domains.

    >>> read_types("3:8:1, 5:20:3")
    [(3, 8, 0.25), (5, 20, 0.75)]
    """
    found = []
    for kind in text.split(","):
        parts = [part.strip() for part in kind.split(":")]
        try:
            n, N, many = int(parts[0]), int(parts[1]), float(parts[2]) if parts[2:] else 1.0
        except (ValueError, IndexError):
            n = N = -1
            many = math.nan
        if len(parts) > 3 or not (0 <= n <= N and 0 < many < math.inf):
            raise DataError(
                f"{kind.strip()!r} is no type of domains; write n:N or n:N:DOMAINS, n of N people "
                "sampled, like 3:8:10."
            )
        found.append((n, N, many))
    total = math.fsum(kind[2] for kind in found)
    return [(n, N, many / total) for n, N, many in found]


def plan_json(planned: Publication) -> list[dict[str, Any]]:
    """The lines of Table 2; `ratio` is null where nothing is lost."""
    table = plan_table(planned).rename(columns=KEYS)
    table["publish"] = planned.probability[planned.order]
    rows: list[dict[str, Any]] = table.to_dict("records")
    for row in rows:
        row["ratio"] = None if math.isnan(row["ratio"]) else row["ratio"]
    return rows


def plan_table(planned: Publication, kind: str = "pandas") -> Any:
    """Configurations in the order of publication, with the sums at each line (Table 2).

    `suppressed` is the loss of what lies below the line.

    >>> import discreet as dc
    >>> planned = dc.survey.plan([(3, 8, 0.25), (5, 20, 0.75)], alpha=1, beta=10, risk=0.5)
    >>> dc.survey.plan_table(planned)[["n", "N", "y", "ratio"]].head(3).round(3)
       n   N  y  ratio
    0  3   8  0    NaN
    1  5  20  0    NaN
    2  5  20  5  0.357
    """
    rows = planned.order
    risk, loss = (planned.R1 * planned.weight)[rows], (planned.R0 * planned.weight)[rows]
    columns = {name: np.asarray(values)[rows] for name, values in planned.columns.items()}
    left = math.fsum(loss) - np.cumsum(loss)
    return frame(
        {
            **columns,
            "R1": planned.R1[rows],
            "R0": planned.R0[rows],
            "ratio": planned.ratio[rows],
            "P R1": risk,
            "P R0": loss,
            "published": np.cumsum(risk),
            "suppressed": np.maximum(left, 0.0),
        },
        kind,
    )
