"""What the law says of the sheets of a batch as a release of margins and cells, where it can."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from discreet.decision.batch.coded import Coded, exact
from discreet.decision.batch.demands import lines_without_totals
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.rules import asked
from discreet.decision.law.rules.attribute import NAME as ATTRIBUTE
from discreet.decision.law.verdict import Reason, Verdict
from discreet.effort import Clock, Effort
from discreet.release.printed import Printed
from discreet.release.release import STRUCTURAL, Release
from discreet.sheets.records import Records
from discreet.sheets.sheet import Sheet
from discreet.table.formula import Formula

MOST_LAW = 100_000  # cells of all variables of some sheets together
MOST_OUTER = 20_000_000  # where outer bounds are enough
MOST_KNOWN = 5_000  # cells that the law is told one by one
SOON = 1e-6  # seconds, of a law that is asked when they are over
BY_CELLS = {"published cells", "small counts", "attribute disclosure", "hidden categories"}


def judge_by_law(
    records: Records,
    sheets: Sequence[Sheet],
    printed: Printed,
    places: Sequence[int],
    policy: Policy,
    *,
    behind: Iterable[str] = (),
    detail: Sequence[Sheet] = (),
    effort: float,
    clock: Clock,
) -> tuple[Reason, ...] | str:
    """What `decide` says of what some sheets show; or why it cannot be asked.

    `places` are those of the sheets in the system of `printed`, `behind` names those behind a mask.
    The law guards all that sheets in `detail` show, too.
    """
    coded = Coded.of(records, [*sheets, *detail])
    margins = [coded.margin(sheet) for sheet in sheets]
    total = True
    if all(map(exact, sheets)) and not {*behind} & {sheet.name for sheet in sheets}:
        formula = Formula.of([m for m in margins if m], coded.table.names)
        if not formula.sets:
            return ()
        release = Release.margins(coded.table, formula)
    else:
        release, total = coded.release(printed, places)
    rough = policy.bounds.proof == "outer"
    most = Effort(effort).of(MOST_OUTER if rough else MOST_LAW)
    if (cells := coded.table.axes.cells) > most:
        return (
            f"all variables of these tables together have {cells:,} combinations, and {most:,} "
            "can be listed"
        )
    told = sum(known.why != STRUCTURAL for known in release.known)
    if told > (most := Effort(effort).of(MOST_KNOWN)):
        return f"{told:,} cells are told one by one, and {most:,} can be judged"
    if not total and not all(rule.monotone(policy) for rule in asked(policy)):
        return "not even the total is printed as it is"
    left = max(clock.left, SOON)
    decision = decide(coded.table, release, policy, seconds=left, named=False)
    if total or decision.verdict is not Verdict.FAIL:
        return decision.reasons
    return tuple(_softened(reason) for reason in decision.reasons)


def unjudged(sheets: Sequence[Sheet], policy: Policy, why: str) -> list[Reason]:
    """What the law alone can judge, where it cannot."""
    names = [rule.name for rule in asked(policy) if rule.name not in BY_CELLS]
    if policy.attribute.check and lines_without_totals(sheets):
        names.append("attribute disclosure where a sensitive category or a total has no line")
    if len(sheets) > 1:
        names.insert(0, "what several tables tell together of cells that none prints")
    if not names:
        return []
    text = f"{why}, so this is not judged: {', '.join(names)}."
    return [Reason("tables together", Verdict.REVIEW, text)]


def joined(law: Sequence[Reason], cells: Sequence[Reason]) -> list[Reason]:
    """What the law says, and what the cells doubt: of printed cells that are hidden it sees none.

    Of attributes it sees all that the cells do.
    """
    said = {reason.rule for reason in law}
    doubts = (r for r in cells if r.verdict is not Verdict.PASS and r.rule != ATTRIBUTE)
    return [*law, *(r for r in cells if r.rule not in said), *(r for r in doubts if r.rule in said)]


def _softened(reason: Reason) -> Reason:
    if reason.verdict is not Verdict.FAIL:
        return reason
    text = (
        f"{reason.text} So it would be if the number of all people was known; no table prints it."
    )
    return dataclasses.replace(reason, verdict=Verdict.REVIEW, text=text)
