"""The rules of a policy: each looks at the table and the release and gives a reason."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.decision.beliefs import beliefs
from discreet.decision.case import Case
from discreet.decision.teaching import teaching
from discreet.decision.verdict import Reason, Verdict
from discreet.intruder.bounds.result import CellBounds
from discreet.table.cells import Cells
from discreet.table.words import several, spoken

MOST_NAMED = 100


Rule = Callable[[Case], "Reason | None"]


def small_counts(case: Case) -> Reason:
    """Every small count keeps the width beta: equation (3) of the 2003 paper within a limit."""
    small, policy = case.small, case.policy
    counts = _either(policy.small.most)
    if not any(variable.role.identifies for variable in case.table.variables):
        return Reason("small counts", Verdict.PASS, "no variable can identify anybody.")
    sample = case.watched
    guarded = ""
    if sample is not None and sample.every:
        guarded = (
            f" (of {sample.every:,} in the sample, {len(sample.cells):,} may be small in the "
            "population)"
            if sample.agrees
            else " (all of the sample: the model of the population does not hold)"
        )
    if not len(small.cells):
        return Reason("small counts", Verdict.PASS, f"the table has no count of {counts}{guarded}.")
    beta = policy.small.width
    rows = small.below(beta)
    if len(rows):
        text = _narrowed(small.cells, small.bounds, rows[0])
        more = (
            f"; {several(len(rows) - 1, 'more cell keeps', 'more cells keep')} less than {beta}"
            if len(rows) > 1
            else ""
        )
        return Reason(
            "small counts",
            Verdict.FAIL,
            f"{text}: width {small.narrowest} where the policy asks for {beta}{more}.",
            _cells(small.cells, small.bounds, rows),
        )
    said = (
        f"all {len(small.cells):,} counts of {counts}{guarded} keep a width of at least "
        f"{small.narrowest:,}, and the policy asks for {beta}"
    )
    return _proven(case, "small counts", said, small.cells, small.bounds, beta)


def attribute_disclosure(case: Case) -> Reason | None:
    """No group's members are known to have, or not to have, a sensitive category."""
    if not case.policy.attribute.check:
        return None
    risk, rule = case.attribute, "attribute disclosure"
    if not any(variable.sensitive_codes for variable in case.table.variables):
        return Reason(rule, Verdict.PASS, "no variable is sensitive.")
    if risk.disclosures:
        first, more = risk.disclosures[0], len(risk.disclosures) - 1
        tail = f"; {several(more, 'more group is', 'more groups are')} disclosed" if more else ""
        cells = tuple(
            {
                "cell": d.group | {d.variable: d.category},
                "group": d.group,
                "size": d.size,
                "lower": d.lower,
                "upper": d.upper,
            }
            for d in risk.disclosures[:MOST_NAMED]
        )
        return Reason(rule, Verdict.FAIL, f"{first}{tail}.", cells)
    if risk.unchecked:
        return Reason(
            rule,
            Verdict.REVIEW,
            f"groups by more than {case.policy.attribute.order} variables were not checked across "
            f"margins ({risk.unchecked:,} combinations); raise attribute.order to check them.",
        )
    if not risk.sharp and not case.policy.bounds.accept_outer:
        return Reason(
            rule,
            Verdict.REVIEW,
            "nothing is disclosed by outer bounds, but they are not proven tight.",
        )
    return Reason(
        rule,
        Verdict.PASS,
        "no released group is known to have or not to have a sensitive category "
        f"(limit {case.policy.attribute.share:.0%} of a group).",
    )


def close_bounds(case: Case) -> Reason | None:
    """Every interval reaches far enough from the true count."""
    share = case.policy.closeness.share
    if share == 0:
        return None
    close = case.closeness
    rows = close.below(share)
    if len(rows):
        text = _narrowed(close.cells, close.bounds, rows[0])
        more = (
            f"; {several(len(rows) - 1, 'more cell is', 'more cells are')} as close"
            if len(rows) > 1
            else ""
        )
        return Reason(
            "closeness",
            Verdict.FAIL,
            f"{text}, within {share:.0%} of it{more}.",
            _cells(close.cells, close.bounds, rows),
        )
    said = f"every interval reaches at least {share:.0%} away from its count"
    return _proven(case, "closeness", said, close.cells, close.bounds)


def enough_tables(case: Case) -> Reason | None:
    """The release leaves a least number of tables: 1 / M(T) of the 2003 paper, section 4.2."""
    least = case.policy.tables.least
    if least == 0:
        return None
    found = case.count
    text = f"{found} fit the release, and the policy asks for {least:,}"
    if found.exact:
        verdict = Verdict.PASS if found.tables >= least else Verdict.FAIL
    else:
        # within three standard errors of the limit nothing is decided
        low = found.tables * (1 - 3 * found.relative_error)
        high = found.tables * (1 + 3 * found.relative_error)
        sure = found.reliable and not low < least <= high
        verdict = Verdict.REVIEW if not sure else Verdict.PASS if low >= least else Verdict.FAIL
    return Reason("number of tables", verdict, f"{text}.")


RULES: tuple[Rule, ...] = (
    small_counts,
    attribute_disclosure,
    close_bounds,
    enough_tables,
    beliefs,
    teaching,
)


def _proven(
    case: Case, rule: str, said: str, cells: Cells, bounds: CellBounds, beta: float = math.inf
) -> Reason:
    """PASS if tables prove it; an outer interval that is wide proves nothing."""
    rows = np.flatnonzero(~bounds.attained & (bounds.spread < beta))
    if not len(rows) or case.policy.bounds.accept_outer:
        note = " (outer bounds, accepted by the policy)" if len(rows) else ""
        return Reason(rule, Verdict.PASS, f"{said}{note}.")
    return Reason(
        rule,
        Verdict.REVIEW,
        f"{said}, but {len(rows):,} of these intervals are outer bounds that are not proven tight.",
        _cells(cells, bounds, rows),
    )


def _either(most: int) -> str:
    return "1" if most == 1 else "1 or 2" if most == 2 else f"1 to {most}"


def _narrowed(cells: Cells, bounds: CellBounds, row: int) -> str:
    """The finding in words: who, how many, and what is known of it."""
    where = spoken(cells.label(row), cells.variables)
    lower, upper = int(bounds.lower[row]), int(bounds.upper[row])
    known = (
        f"is known exactly ({lower})" if lower == upper else f"can be narrowed to {lower}-{upper}"
    )
    return f"a count of {int(cells.counts[row]):,} in {where} {known}"


def _cells(cells: Cells, bounds: CellBounds, rows: NDArray[Any]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "cell": cells.label(row),
            "count": int(cells.counts[row]),
            "lower": int(bounds.lower[row]),
            "upper": int(bounds.upper[row]),
        }
        for row in rows[:MOST_NAMED]
    )
