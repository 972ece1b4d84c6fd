"""Sums that tell a sensitive category: 0 where nobody is, or all of a line in one category."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.data.variable import Role
from discreet.decision.batch.case import SheetCase
from discreet.decision.law.rules.attribute import NAME
from discreet.decision.law.verdict import Reason, Verdict
from discreet.look.words import plural
from discreet.release.printed import Printed
from discreet.sheets.sheet import Status


def sums_that_tell(case: SheetCase, printed: Printed) -> list[Reason]:
    """A doubt where printed sums show who has a category that somebody calls sensitive, or has not.

    A sum tells no number of people, so that this is for a person to look at.
    """
    rule, cells = case.policy.attribute, case.cells
    pairs = np.array([*_lines_and_totals(case)], np.int64).reshape(-1, 2)
    if not rule.check or not len(pairs):
        return []
    here, total = pairs.T
    possible = case.system.sums @ (~case.closed).astype(float)
    near = 1e-9 * max(1.0, float(case.values.max(initial=0.0)))
    own, size = cells.present[here], cells.present[total]
    some = (size > 0) & (printed.lower[total] > near)
    absent = (own == 0) & (printed.upper[here] <= near) & (possible[here] > 0) & rule.exclusion
    whole = printed.lower[here] >= printed.upper[total] - near
    told = (own >= rule.share * size) & whole & (possible[here] < possible[total])
    rows = np.unique(here[some & (absent | told)])
    if not len(rows):
        return []
    text = (
        f"{case.named(int(rows[0]))} is of nobody, or of all of its line, and printed sums "
        f"show it ({plural(len(rows), 'cell')}). Counts of the same people would not pass."
    )
    return [Reason(NAME, Verdict.REVIEW, text, case.listed(rows))]


def _lines_and_totals(case: SheetCase) -> Iterator[tuple[int, int]]:
    """The rows of sensitive categories of groups that can be observed, and those of the groups.

    One table may show the category, or keep to it, and another the group.
    """
    variables = {variable.name: variable for variable in case.records.variables}
    if not any(v.role.is_sensitive and v.role is not Role.UNSTATED for v in variables.values()):
        return
    known: dict[frozenset[tuple[str, frozenset[int]]], int] = {}
    for sheet, rows in zip(case.system.sheets, case.system.places, strict=True):
        if sheet.status is not Status.WATCHED:
            kept = [(g.name, g.lines[0].codes) for g in sheet.where]
            for at in np.ndindex(sheet.shape):
                lines = [
                    (g.name, g.lines[i].codes) for g, i in zip(sheet.groupings, at, strict=True)
                ]
                part = ((n, c) for n, c in (*lines, *kept) if len(c) < variables[n].size)
                known[frozenset(part)] = int(rows[at])
    for cell, row in known.items():
        for name, codes in cell:
            group, variable = cell - {(name, codes)}, variables[name]
            stated = variable.role is not Role.UNSTATED and codes <= {*variable.sensitive_codes}
            seen = all(variables[other].role.identifies for other, _ in group)
            if stated and seen and group in known:
                yield row, known[group]
