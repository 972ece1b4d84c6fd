"""The sentences of a report."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from discreet.data.codebook import Role
from discreet.decision.law.verdict import Verdict
from discreet.intruder.bounds.result import Rung
from discreet.look.words import listed, number, percent, plural, sentence, up_to

if TYPE_CHECKING:
    from discreet.decision.law.decide import Decision
    from discreet.decision.law.policy import Policy
    from discreet.risk.release.attribute import Disclosure
    from discreet.table.table import Table

CONFIDENTIAL = "Confidential: contains unpublished counts. Do not publish this report."
ADVICE = {
    Verdict.PASS: "These tables may be published under this policy.",
    Verdict.REVIEW: "Not proven safe. A person has to decide.",
    Verdict.FAIL: "Do not publish these tables as they are.",
}
REACHED = {
    Rung.INTEGER: "reached by tables of whole numbers",
    Rung.LINEAR: "reached by tables of fractions only",
    Rung.OUTER: "reached by no table that was found",
}
RESTS = {
    Rung.INTEGER: "Tables of whole numbers were found that fit the release and reach every width "
    "that is asked for: an intruder cannot narrow a count down to less.",
    Rung.LINEAR: "Tables that fit the release reach every width that is asked for, but some of "
    "them hold fractions of people. This is what linear programs prove; who counts people as whole "
    "may narrow a count down to less.",
    Rung.OUTER: "For some widths no table was found that reaches them: an intruder may narrow the "
    "counts down further than the intervals say.",
}
ASKED = {
    Rung.INTEGER: "The policy asks for tables of whole numbers that reach every width.",
    Rung.LINEAR: "The policy asks for tables that reach every width, fractions of people allowed.",
    Rung.OUTER: "The policy asks for no table that reaches a width.",
}
_ROLES = {
    Role.BOTH: "identifying and sensitive",
    Role.UNSTATED: "not stated, taken as identifying and sensitive",
    Role.NEITHER: "neither identifying nor sensitive",
}


class Judged(Protocol):
    """What has a decision under a policy: an assessment, a frontier."""

    @property
    def policy(self) -> Policy: ...

    @property
    def decision(self) -> Decision: ...


def small_words(judged: Judged) -> str:
    """Which counts are small: `1 or 2`."""
    return up_to(judged.policy.small.most)


def role_words(table: Table, most: int) -> list[tuple[str, str]]:
    """Each role with its variables and their numbers of categories."""
    found: dict[str, list[str]] = {}
    for variable in table.variables:
        role = _ROLES.get(variable.role, str(variable.role))
        found.setdefault(role, []).append(f"{variable.name} ({number(variable.size)})")
    return [(role, listed(names, most)) for role, names in found.items()]


def margin_words(margin: Iterable[str]) -> str:
    """`Race by Income`."""
    return " by ".join(margin)


def size_words(table: Table, margin: Iterable[str]) -> str:
    """`3 × 3 = 9 cells`."""
    sizes = [table.variable(name).size for name in margin]
    cells = 1
    for size in sizes:
        cells *= size
    product = " \u00d7 ".join(map(number, sizes))
    return plural(cells, "cell") if len(sizes) == 1 else f"{product} = {plural(cells, 'cell')}"


def known_words(disclosure: Disclosure) -> str:
    """What is known of the group's members."""
    if disclosure.excluded:
        return "none has it"
    if disclosure.size == 1:
        return "all have it"
    if not disclosure.counted:
        return "nearly all have it"
    if disclosure.lower == disclosure.size:
        return "all have it"
    return f"at least {number(disclosure.lower)} have it"


def looked_at(judged: Judged) -> str:
    """In which table small counts were looked for, unless it is the whole one."""
    case = judged.decision.case
    if len(case.identifying) == len(case.table.names):
        return ""
    return f" in the table of {listed(list(case.identifying), 8)}, which alone can identify"


def narrowing(judged: Judged) -> str:
    """The finding on small counts, as a heading."""
    small, beta = judged.decision.case.small, judged.policy.small.width
    n, below = len(small.cells), len(small.below(beta))
    if not n:
        case = judged.decision.case
        if not case.identifying:
            return "No variable can identify anybody"
        over = "" if case.identifying == case.table.names else f" by {', '.join(case.identifying)}"
        return f"There is no count of {small_words(judged)}{over} to narrow down"
    counts = plural(n, "small count")
    if below:
        return f"{number(below)} of {counts} can be narrowed to a width of less than {number(beta)}"
    loose = reached(judged).count(False)
    if loose and judged.policy.bounds.proof != Rung.OUTER:
        return f"{number(loose)} of {counts} not proven to keep a width of {number(beta)}"
    keep = "keeps" if n == 1 else "keep"
    return f"{counts} {keep} a width of {number(beta)} or more"


def reached(judged: Judged) -> list[bool]:
    """Of each small count: do tables reach its width, of fractions if the policy allows them?"""
    small, policy = judged.decision.case.small, judged.policy
    asked = Rung.INTEGER if policy.bounds.proof == Rung.INTEGER else Rung.LINEAR
    return [each.rung.reaches(asked) for each in small.bounds.status(policy.small.width)]


def method_words(judged: Judged) -> str:
    """How intervals were found, and what reaches them."""
    bounds = judged.decision.case.small.bounds
    method = {"linear": "linear programs"}.get(bounds.method, bounds.method)
    if bounds.sharp:
        return f"Intervals by {method}, each proven tight."
    rungs = [status.rung for status in bounds.status(judged.policy.small.width)]
    said = [f"{number(rungs.count(r))} {words}" for r, words in REACHED.items() if r in rungs]
    return f"Intervals by {method}: {', '.join(said)}."


def interval_words(judged: Judged, data: str) -> str:
    """Below a chart of intervals: where they come from, and what the policy asks."""
    return (
        f"Source: {data}. {method_words(judged)} The policy asks every small count to keep a width "
        f"(upper minus lower) of {number(judged.policy.small.width)}."
    )


def proof_words(decision: Decision) -> str:
    """What PASS rests on, or what would be proof."""
    if decision.verdict is Verdict.PASS:
        return RESTS[decision.rung]
    return ASKED[Rung(decision.case.policy.bounds.proof)]


def worth_words(released: int, possible: int) -> str:
    """`5 of 7 margins (71%)`."""
    return f"{number(released)} of {plural(possible, 'margin')} ({percent(released / possible)})"


def value_words(value: Any) -> str:
    """A policy's value as its file has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return number(value) if isinstance(value, int | float) else str(value)


def head_words(head: str) -> str:
    """The head of a column; a letter is a symbol."""
    return {"count": "True count"}.get(head, head if len(head) == 1 else sentence(head))


def date_words(when: str) -> str:
    """`15 November 2026, 10:43 UTC`."""
    moment = datetime.datetime.fromisoformat(when)
    return f"{moment.day} {moment:%B %Y, %H:%M} {moment.tzname() or ''}".strip()
