"""Sums that tell a sensitive category: 0 where nobody is, or all of a line in one category."""

from __future__ import annotations

import numpy as np

from discreet.decision.batch.case import SheetCase
from discreet.decision.batch.demands import sensitive_lines
from discreet.decision.law.rules.attribute import NAME
from discreet.decision.law.verdict import Reason, Verdict
from discreet.look.words import plural
from discreet.release.printed import Printed


def sums_that_tell(case: SheetCase, printed: Printed) -> list[Reason]:
    """A doubt where printed sums show who has a category that somebody calls sensitive, or has not.

    A sum tells no number of people, so that this is for a person to look at.
    """
    rule, cells = case.policy.attribute, case.cells
    if not rule.check:
        return []
    possible = case.system.sums @ (~case.closed).astype(float)
    near, found = 1e-9 * max(1.0, float(case.values.max(initial=0.0))), list[int]()
    for here, total in sensitive_lines(cells, stated=True):
        own, size = cells.present[here], cells.present[total]
        some = (size > 0) & (printed.lower[total] > near)
        absent = (own == 0) & (printed.upper[here] <= near) & (possible[here] > 0) & rule.exclusion
        whole = printed.lower[here] >= printed.upper[total] - near
        told = (own >= rule.share * size) & whole & (possible[here] < possible[total])
        found += here[some & (absent | told)].tolist()
    if not found:
        return []
    rows = np.unique(found)
    text = (
        f"{case.named(int(rows[0]))} is of nobody, or of all of its line, and printed sums "
        f"show it ({plural(len(rows), 'cell')}). Counts of the same people would not pass."
    )
    return [Reason(NAME, Verdict.REVIEW, text, case.listed(rows))]
