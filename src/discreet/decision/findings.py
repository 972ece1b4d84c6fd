"""A rule's finding in words that an officer can sign, and the cells that it rests on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.decision.case import Case
from discreet.decision.verdict import Reason, Verdict
from discreet.intruder.bounds.result import CellBounds
from discreet.table.cells import Cells
from discreet.table.words import spoken

MOST_NAMED = 100


def proven(
    case: Case, rule: str, said: str, cells: Cells, bounds: CellBounds, beta: float = math.inf
) -> Reason:
    """PASS if tables prove it; an outer interval that is wide proves nothing."""
    rows = np.flatnonzero(~bounds.attained & (bounds.spread < beta))
    if not len(rows) or case.policy.bounds.accept_outer:
        note = " (outer bounds, accepted by the policy)" if len(rows) else ""
        return Reason(rule, Verdict.PASS, f"{said}{note}.", outer=bool(len(rows)))
    return Reason(
        rule,
        Verdict.REVIEW,
        f"{said}, but {len(rows):,} of these intervals are outer bounds that are not proven tight.",
        listed(cells, bounds, rows),
    )


def either(most: int) -> str:
    """Small counts in words: `1 or 2`."""
    return "1" if most == 1 else "1 or 2" if most == 2 else f"1 to {most}"


def narrowed(cells: Cells, bounds: CellBounds, row: int) -> str:
    """Who, how many, and what is known of it."""
    where = spoken(cells.label(row), cells.variables)
    lower, upper = int(bounds.lower[row]), int(bounds.upper[row])
    known = (
        f"is known exactly ({lower})" if lower == upper else f"can be narrowed to {lower}-{upper}"
    )
    return f"a count of {int(cells.counts[row]):,} in {where} {known}"


def listed(cells: Cells, bounds: CellBounds, rows: NDArray[Any]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "cell": cells.label(row),
            "count": int(cells.counts[row]),
            "lower": int(bounds.lower[row]),
            "upper": int(bounds.upper[row]),
        }
        for row in rows[:MOST_NAMED]
    )
