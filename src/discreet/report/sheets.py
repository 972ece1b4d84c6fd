"""The tables of a report: what the HTML, CSV and Excel files show."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any

from discreet.decision.law.findings import MOST_NAMED
from discreet.decision.law.policy import sections
from discreet.decision.law.rules import asked, attribute, closeness, rules
from discreet.decision.law.verdict import Reason, Verdict
from discreet.intruder.bounds.result import Rung, Status

if TYPE_CHECKING:
    from discreet.decision.law.assess import Assessment
    from discreet.decision.law.policy import Policy
    from discreet.intruder.bounds.result import CellBounds
    from discreet.report.words import Judged
    from discreet.risk.release.attribute import Disclosure
    from discreet.table.cells import Cells


@dataclass(frozen=True)
class Sheet:
    """A table with a name for its file, what it shows, columns and rows."""

    name: str
    shows: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class CellRow:
    """A cell with its interval and what the policy says to it."""

    cell: dict[str, str]
    count: int
    lower: int
    upper: int
    status: Status
    verdict: Verdict

    @property
    def width(self) -> int:
        return self.upper - self.lower


def sheets(assessment: Assessment) -> tuple[Sheet, ...]:
    """Every table of the report."""
    decision = assessment.decision
    cells = small_rows(assessment)
    names = tuple(variable.name for variable in decision.case.small.cells.variables)
    offers = assessment.alternatives
    return (
        Sheet(
            "reasons", "What each rule of the policy found",
            ("rule", "verdict", "finding"),
            tuple((r.rule, str(r.verdict), r.text) for r in decision.reasons),
        ),
        Sheet(
            "cells", "Small counts and the interval that an intruder can work out, narrowest first",
            (*names, "count", "lower", "upper", "width", "status", "verdict"),
            tuple(
                (*row.cell.values(), row.count, row.lower, row.upper, row.width,
                 str(row.status), str(row.verdict))
                for row in cells
            ),
        ),
        Sheet(
            "groups", "Groups whose members' sensitive category is disclosed",
            ("group", "size", "variable", "category", "lower", "upper", "finding"),
            tuple(
                (group_words(d), d.size, d.variable, d.category, d.lower, d.upper, str(d))
                for d in disclosures(assessment)
            ),
        ),
        Sheet(
            "utility", "Margins in the release by their number of variables",
            ("variables", "released", "possible", "share"),
            tuple((k, n, of, n / of) for k, n, of in order_rows(assessment)),
        ),
        Sheet(
            "alternatives", "What to release instead",
            ("verdict", "how", "release", "margins"),
            tuple(
                (str(o.decision.verdict), o.how, str(o.formula), o.decision.utility.released)
                for o in offers
            ),
        ),
        Sheet(
            "policy", "The policy that the verdict rests on",
            ("key", "value", "meaning", "locked"),
            tuple(
                (key, str(value).lower() if isinstance(value, bool) else value, says, _yes(locked))
                for key, value, says, locked in policy_rows(assessment.policy)
            ),
        ),
        *map(finding_sheet, findings(assessment)),
    )  # fmt: skip


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def small_rows(judged: Judged, most: int | None = None) -> list[CellRow]:
    """The small counts, narrowest interval first."""
    small, policy = judged.decision.case.small, judged.policy
    limit = int(small.bounds.width.max(initial=0)) + 1
    rows = small.below(limit)[:most]
    return _rows(small.cells, small.bounds, rows, policy, policy.small.width)


def close_rows(assessment: Assessment, most: int | None = None) -> list[CellRow]:
    """The counts whose interval stays too close to them; none if the policy does not ask."""
    if closeness.RULE not in asked(assessment.policy):
        return []
    share = assessment.policy.closeness.share
    close = assessment.decision.case.closeness
    rows = close.below(share)[:most]
    limit = int(close.bounds.width.max(initial=0)) + 1
    return _rows(close.cells, close.bounds, rows, assessment.policy, limit)


def _rows(cells: Cells, bounds: CellBounds, rows: Any, policy: Policy, limit: int) -> list[CellRow]:
    proof, status = Rung(policy.bounds.proof), bounds.status(limit)
    found = []
    for row in rows:
        lower, upper = int(bounds.lower[row]), int(bounds.upper[row])
        verdict = Verdict.PASS if status[row].rung.reaches(proof) else Verdict.REVIEW
        if upper - lower < limit:
            verdict = Verdict.FAIL
        count = int(cells.counts[row])
        found.append(CellRow(cells.label(row), count, lower, upper, status[row], verdict))
    return found


def findings(judged: Judged) -> list[Reason]:
    """What rules found that have no part of the report to themselves."""
    drawn = {rule.name for rule in rules() if rule.drawn}
    return [r for r in judged.decision.reasons if r.cells and r.rule not in drawn]


def finding_sheet(reason: Reason) -> Sheet:
    """The cells that a reason rests on, one column a fact."""
    columns = tuple(dict.fromkeys(fact for cell in reason.cells for fact in cell))
    rows = tuple(tuple(_spelled(cell.get(fact, "")) for fact in columns) for cell in reason.cells)
    cut = f" The first {len(rows):,} are listed." if len(rows) == MOST_NAMED else ""
    return Sheet(reason.rule.replace(" ", "-"), f"{reason.text}{cut}", columns, rows)


def _spelled(value: Any) -> Any:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {label}" for name, label in value.items())
    return value


def disclosures(assessment: Assessment) -> tuple[Disclosure, ...]:
    """The disclosed groups; none if the policy does not ask."""
    if attribute.RULE not in asked(assessment.policy):
        return ()
    return assessment.decision.case.attribute.disclosures


def group_words(disclosure: Disclosure) -> str:
    """`Sex: male, Town: Ash`, or the whole table."""
    named = ", ".join(f"{name}: {label}" for name, label in disclosure.group.items())
    return named or disclosure.who


def order_rows(judged: Judged) -> list[tuple[int, int, int]]:
    """For each number of variables: margins released, margins possible."""
    utility = judged.decision.utility
    k = utility.variables
    return [(order, utility.by_order.get(order, 0), comb(k, order)) for order in range(1, k + 1)]


def policy_rows(policy: Policy) -> list[tuple[str, Any, str, bool]]:
    """Each key, its value, what it means, and whether it is locked."""
    return [
        (key := f"{name}.{entry.name}", getattr(getattr(policy, name), entry.name),
         str(entry.metadata["says"]), key in policy.locked)
        for name, section in sections().items()
        for entry in dataclasses.fields(section)
    ]  # fmt: skip
