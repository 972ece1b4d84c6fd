"""Rules whose refusals tell nothing: they decide from what is public alone.

Whoever knows the release can work out the decision without the confidential table, so that a
refusal leaves every belief as it was (Kenthapadi, Mishra & Nissim 2005, Simulatable auditing).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.effort import Seconds
from discreet.errors import DataError
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.refusals.refusals import Refuses
from discreet.intruder.refusals.weighted_tables import judge
from discreet.look.result import Shown
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.formula import Formula, as_formula
from discreet.table.table import Table

SURE = 3  # standard errors


@dataclass(frozen=True)
class Refusal(Shown):
    """A decision on a request, and the probability, given what is public, of an unsafe answer."""

    refuses: bool
    probability: float
    standard_error: float
    exact: bool
    delta: float

    def __repr__(self) -> str:
        verdict = "refused" if self.refuses else "granted"
        error = "exact" if self.exact else f"± {self.standard_error:.2g}"
        return (
            f"Refusal({verdict}: unsafe with probability {self.probability:.4g}, {error}, where "
            f"{self.delta:g} is allowed)"
        )


def simulatable_refuses(
    release: Release,
    request: str | Formula | Iterable[Iterable[str]],
    unsafe: Refuses,
    *,
    delta: float,
    weights: CellWeights | None = None,
    draws: int = 10_000,
    limit: int = 100_000,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
) -> Refusal:
    """Refuse if the answer would be unsafe with a probability above `delta`, given the release.

    `unsafe(table, request)` says whether the answer would be unsafe if `table` were the true one.
    From draws, the probability plus three standard errors counts. With `delta` 0, the strict
    version, one unsafe table that fits is enough, which refuses nearly everything.

    >>> table = Table.of([[2, 0], [0, 2]], A=[0, 1], B=[0, 1])
    >>> unique = lambda table, request: 1 in table.counts
    >>> simulatable_refuses(Release.margins(table, "A + B"), "A*B", unique, delta=0.1)
    Refusal(refused: unsafe with probability 0.1818, exact, where 0.1 is allowed)
    """
    if not 0 <= delta < 1:
        raise DataError(f"delta is {delta!r}; give a probability from 0 to below 1.")
    asked = as_formula(request, release.names)
    found = judge(
        release, lambda table: unsafe(table, asked), _no_cells(release), weights=weights,
        draws=draws, limit=limit, effort=effort, seconds=seconds, seed=seed,
    )  # fmt: skip
    probability, error = found.probability()
    refuses = probability + SURE * error > delta or (delta == 0 and bool(found.holds.any()))
    return Refusal(refuses, probability, error, found.exact, delta)


def simulatable_rule(public: Release, unsafe: Refuses, *, delta: float, **how: Any) -> Refuses:
    """The rule as a function of a table, which it sees only through its released margins.

    >>> import discreet as dc
    >>> table = dc.Table.of([[2, 0], [0, 2]], A=[0, 1], B=[0, 1])
    >>> unique = lambda table, request: 1 in table.counts
    >>> refuses = dc.server.simulatable_rule(dc.Release.margins(table, "A + B"), unique, delta=0.1)
    >>> refuses(table, dc.Formula.parse("A*B", table.names))
    True
    """
    kept: dict[tuple[tuple[Table, ...], Formula], bool] = {}

    def refuses(table: Table, request: Formula) -> bool:
        release = _as_released(table, public)
        key = release.tables, request
        if key not in kept:
            kept[key] = simulatable_refuses(release, request, unsafe, delta=delta, **how).refuses
        return kept[key]

    return refuses


def policy_rule(policy: Policy | None, public: Release) -> Refuses:
    """The rule that refuses what the policy fails, given what is out: it sees the whole table."""
    kept: dict[tuple[Table, Formula], bool] = {}

    def refuses(table: Table, request: Formula) -> bool:
        key = table, request
        if key not in kept:
            release = _as_released(table, public, request)
            kept[key] = decide(table, release, policy).verdict is Verdict.FAIL
        return kept[key]

    return refuses


def _as_released(table: Table, public: Release, request: Formula | None = None) -> Release:
    """What would be public of this table, after an answer to the request."""
    margins = [*public.formula.margins, *(request.margins if request else ())]
    return dataclasses.replace(Release.margins(table, margins), known=public.known)


def _no_cells(release: Release) -> Cells:
    codes = np.zeros((0, len(release.variables)), np.uint8)
    return Cells(release.variables, codes, np.zeros(0, np.int64))
