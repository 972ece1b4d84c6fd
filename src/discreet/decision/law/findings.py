"""A rule's finding in words that an officer can sign, and the cells that it rests on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.decision.law.case import Case
from discreet.decision.law.verdict import Reason, Verdict
from discreet.intruder.bounds.result import CellBounds, Rung
from discreet.look.words import plural
from discreet.table.cells import Cells
from discreet.table.words import spoken

MOST_NAMED = 100
ACCEPTED = {
    Rung.INTEGER: "",
    Rung.LINEAR: " (reached by tables of fractions, as the policy allows)",
    Rung.OUTER: " (outer bounds, accepted by the policy)",
}


def proven(
    case: Case, rule: str, said: str, cells: Cells, bounds: CellBounds, beta: float = math.inf
) -> Reason:
    """PASS if what the policy asks for reaches the widths; what reaches less is for a person."""
    asked = Rung(case.policy.bounds.proof)
    whole = bounds.proven(Rung.INTEGER, beta)
    fitted = whole | bounds.proven(Rung.LINEAR, beta)
    rung = Rung.INTEGER if whole.all() else Rung.LINEAR if fitted.all() else Rung.OUTER
    if rung.reaches(asked):
        return Reason(rule, Verdict.PASS, f"{said}{ACCEPTED[rung]}.", rung=rung)
    rows = np.flatnonzero(~whole if asked is Rung.INTEGER else ~fitted)
    some, none = len(rows), int((~fitted).sum())
    short = f"{some:,} of these intervals {'is' if some == 1 else 'are'}"
    if not none:
        text = f"{short} reached by tables of fractions only, not by tables of whole numbers"
    elif none == some:
        text = f"{short} reached by no table that was found"
    else:
        text = (
            f"{short} not reached by tables of whole numbers that were found: {some - none:,} by "
            f"tables of fractions only, {none:,} by no table"
        )
    said = f"{said}, but {text}.{_more(case)}"
    return Reason(rule, Verdict.REVIEW, said, listed(cells, bounds, rows), rung)


def _more(case: Case) -> str:
    """What more work would do."""
    if not case.short:
        return ""
    times = 10 * case.effort * case.policy.bounds.effort
    return (
        " The usual work did not come to linear bounds of all of them: --effort or bounds.effort "
        f"= {times:g} allows ten times as much."
    )


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


def too_narrow(
    rule: str, cells: Cells, bounds: CellBounds, rows: NDArray[Any], said: str, *, also: str
) -> Reason:
    """FAIL: the worst cell, what is wrong with it, and how many cells more there are like it."""
    others = len(rows) - 1
    one, many = also.split("|")
    more = f"; {plural(others, f'more cell {one}', f'more cells {many}')}" if others else ""
    text = f"{narrowed(cells, bounds, rows[0])}{said}{more}."
    return Reason(rule, Verdict.FAIL, text, listed(cells, bounds, rows))
