"""Sums that tell a sensitive category: 0 where nobody is, or all of a line in one category."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.data.variable import Role, Variable
from discreet.decision.batch.case import SheetCase
from discreet.decision.law.rules.attribute import NAME
from discreet.decision.law.verdict import Reason, Verdict
from discreet.look.words import plural
from discreet.release.printed import Printed
from discreet.sheets.sheet import Status
from discreet.table.levels import levels

Floats = NDArray[np.float64]
Line = frozenset[tuple[str, frozenset[int]]]  # the codes of each variable
Lines = dict[frozenset[int], int]  # the row of some codes of one variable


def sums_that_tell(case: SheetCase, printed: Printed) -> list[Reason]:
    """A doubt where printed sums show who has a category that somebody calls sensitive, or has not.

    A sum tells no number of people, so that this is for a person to look at.
    """
    if not case.policy.attribute.check:
        return []
    possible = case.system.sums @ (~case.closed).astype(float)
    rows = sorted({
        row
        for group, variable, lines in _lines_of_groups(case)
        for row in _telling(case, printed, possible, group, variable, lines)
    })  # fmt: skip
    if not rows:
        return []
    text = (
        f"{case.named(rows[0])} is of nobody, or of all of its line, and printed sums "
        f"show it ({plural(len(rows), 'cell')}). Counts of the same people would not pass."
    )
    return [Reason(NAME, Verdict.REVIEW, text, case.listed(np.array(rows)))]


def _lines_of_groups(case: SheetCase) -> Iterator[tuple[Line, Variable, Lines]]:
    """The printed rows of each group that can be observed, by the categories that they are of.

    One table may show a category, or keep to it, and another the group.
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
    found: dict[tuple[Line, str], Lines] = {}
    for cell, row in known.items():
        for name, codes in cell:
            group, role = cell - {(name, codes)}, variables[name].role
            stated = role.is_sensitive and role is not Role.UNSTATED
            if stated and all(variables[other].role.identifies for other, _ in group):
                found.setdefault((group, name), {})[codes] = row
    for (group, name), shown in found.items():
        if group in known:
            shown[frozenset(range(variables[name].size))] = known[group]
        yield group, variables[name], shown


def _telling(
    case: SheetCase,
    printed: Printed,
    possible: Floats,
    group: Line,
    variable: Variable,
    lines: Lines,
) -> Iterator[int]:
    """The rows by which a sensitive category is told of a group, or ruled out."""
    rule, present = case.policy.attribute, case.cells.present
    near = 1e-9 * max(1.0, float(case.values.max(initial=0.0)))
    every = frozenset(range(variable.size))
    empty: dict[int, set[int]] = {}  # the codes that a row shows nobody to have
    for codes, row in lines.items():
        if present[row] == 0 and printed.upper[row] <= near and possible[row] > 0:
            empty.setdefault(row, set()).update(codes)
        for wider, total in lines.items():
            if (
                codes < wider
                and printed.lower[total] > near
                and printed.lower[row] >= printed.upper[total] - near
                and present[row] >= max(rule.share * present[total], 1)
                and possible[row] < possible[total]
            ):
                empty.setdefault(row, set()).update(wider - codes)
    gone = {code for codes in empty.values() for code in codes}
    if every in lines:
        somebody = present[lines[every]] > 0 and printed.lower[lines[every]] > near
    else:
        somebody = _people(case, group) > 0
    if not gone or not somebody:
        return
    closed = {c for codes, row in lines.items() if possible[row] == 0 for c in codes}
    sensitive = _sensitive(variable)
    sensitive |= {codes for codes in lines if codes <= {*variable.sensitive_codes}}
    if any(every - gone - closed <= codes for codes in sensitive):
        yield from empty
    elif rule.exclusion:
        out = {code for codes in sensitive if codes <= gone for code in codes}
        yield from (row for row, codes in empty.items() if codes & out)


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
