"""Sums that tell a sensitive category: 0 where nobody is, or all of a line in one category."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.data.variable import Role, Variable
from discreet.decision.batch.case import SheetCase
from discreet.decision.law.rules.attribute import NAME
from discreet.decision.law.verdict import Reason, Verdict
from discreet.look.words import plural
from discreet.release.printed import Printed
from discreet.sheets.sheet import Status
from discreet.table.levels import levels

Line = frozenset[tuple[str, frozenset[int]]]  # the codes of each variable


def sums_that_tell(case: SheetCase, printed: Printed) -> list[Reason]:
    """A doubt where printed sums show who has a category that somebody calls sensitive, or has not.

    A sum tells no number of people, so that this is for a person to look at.
    """
    rule, cells = case.policy.attribute, case.cells
    found = np.array([*_lines_and_groups(case)], np.int64).reshape(-1, 4)
    if not rule.check or not len(found):
        return []
    here, total, size, others = found.T
    possible = case.system.sums @ (~case.closed).astype(float)
    near = 1e-9 * max(1.0, float(case.values.max(initial=0.0)))
    own, shown = cells.present[here], total >= 0
    some = (size > 0) & (~shown | (printed.lower[total] > near))
    asked = np.where(others, True, rule.exclusion)
    absent = (own == 0) & (printed.upper[here] <= near) & (possible[here] > 0) & asked
    whole = shown & (printed.lower[here] >= printed.upper[total] - near)
    most = ~others.astype(bool) & (own >= rule.share * size)
    told = most & whole & (possible[here] < possible[total])
    rows = np.unique(here[some & (absent | told)])
    if not len(rows):
        return []
    text = (
        f"{case.named(int(rows[0]))} is of nobody, or of all of its line, and printed sums "
        f"show it ({plural(len(rows), 'cell')}). Counts of the same people would not pass."
    )
    return [Reason(NAME, Verdict.REVIEW, text, case.listed(rows))]


def _lines_and_groups(case: SheetCase) -> Iterator[tuple[int, int, int, bool]]:
    """The rows of categories of groups that can be observed, those of the groups (-1: of a group
    that no table shows), how many contribute there, and is it all others that are sensitive?

    One table may show the category, or keep to it, and another the group.
    """
    variables = {variable.name: variable for variable in case.records.variables}
    if not any(v.role.is_sensitive and v.role is not Role.UNSTATED for v in variables.values()):
        return
    known: dict[Line, int] = {}
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
            stated = variable.role.is_sensitive and variable.role is not Role.UNSTATED
            if stated and all(variables[other].role.identifies for other, _ in group):
                total = known.get(group, -1)
                size = int(case.cells.present[total]) if total >= 0 else _people(case, group)
                if codes <= {*variable.sensitive_codes}:
                    yield row, total, size, False
                if frozenset(range(variable.size)) - codes in _sensitive(variable):
                    yield row, total, size, True


def _sensitive(variable: Variable) -> set[frozenset[int]]:
    """The codes of each sensitive category, and of each sensitive group of a hierarchy."""
    found = {frozenset({int(code)}) for code in variable.sensitive_codes}
    for level, groups in levels(variable):
        telling = {level.categories[code] for code in level.sensitive_codes}
        found |= {frozenset(c for c, g in enumerate(groups) if g == group) for group in telling}
    return found


def _people(case: SheetCase, group: Line) -> int:
    """How many records are in a group."""
    inside = np.ones(len(case.records), bool)
    for name, codes in group:
        inside &= np.isin(case.records.codes[name], [*codes])
    return int(inside.sum())
