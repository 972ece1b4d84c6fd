"""The sentences of a report."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from discreet.data.codebook import Role
from discreet.decision.verdict import Verdict
from discreet.look.palette import number, percent, plural

if TYPE_CHECKING:
    from discreet.decision.assess import Assessment
    from discreet.risk.attribute import Disclosure

CONFIDENTIAL = "Confidential: contains unpublished counts. Do not publish this report."
ADVICE = {
    Verdict.PASS: "These tables may be published under this policy.",
    Verdict.REVIEW: "Not proven safe. A person has to decide.",
    Verdict.FAIL: "Do not publish these tables as they are.",
}
_ROLES = {
    Role.BOTH: "identifying and sensitive",
    Role.UNSTATED: "role not stated, taken as identifying and sensitive",
    Role.NEITHER: "neither identifying nor sensitive",
}


def small_words(assessment: Assessment) -> str:
    """Which counts are small: `1 or 2`."""
    most = assessment.policy.small.most
    return "1" if most == 1 else f"1 or {most}" if most == 2 else f"1 to {most}"


def variable_words(assessment: Assessment) -> list[str]:
    """Each variable with its number of categories and its role."""
    return [
        f"{v.name} ({plural(v.size, 'category', 'categories')}, {_ROLES.get(v.role, v.role)})"
        for v in assessment.table.variables
    ]


def margin_words(margin: Iterable[str]) -> str:
    """`Race by Income`."""
    return " by ".join(margin)


def size_words(assessment: Assessment, margin: Iterable[str]) -> str:
    """`3 × 3 = 9 cells`."""
    sizes = [assessment.table.variable(name).size for name in margin]
    cells = 1
    for size in sizes:
        cells *= size
    product = " \u00d7 ".join(map(number, sizes))
    return plural(cells, "cell") if len(sizes) == 1 else f"{product} = {plural(cells, 'cell')}"


def known_words(disclosure: Disclosure) -> str:
    """What is known of the group's members."""
    if disclosure.excluded:
        return "none has it"
    if disclosure.lower == disclosure.size:
        return "all have it"
    return f"at least {number(disclosure.lower)} have it"


def narrowing(assessment: Assessment) -> str:
    """The finding on small counts, as a heading."""
    small, beta = assessment.decision.case.small, assessment.policy.small.width
    n, below = len(small.cells), len(small.below(beta))
    if not n:
        return f"There is no count of {small_words(assessment)} to narrow down"
    counts = plural(n, "small count")
    if below:
        return f"{number(below)} of {counts} can be narrowed to a width of less than {number(beta)}"
    keep = "keeps" if n == 1 else "keep"
    return f"{counts} {keep} a width of {number(beta)} or more"


def method_words(assessment: Assessment) -> str:
    """How intervals were found, and whether they are proven tight."""
    bounds = assessment.decision.case.small.bounds
    if bounds.sharp:
        return f"Intervals by {bounds.method}, each proven tight."
    loose = plural(int((~bounds.attained).sum()), "interval")
    return f"Intervals by {bounds.method}; {loose} not proven tight."


def worth_words(released: int, possible: int) -> str:
    """`5 of 7 margins (71%)`."""
    return f"{number(released)} of {plural(possible, 'margin')} ({percent(released / possible)})"


def value_words(value: Any) -> str:
    """A policy's value as its file has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return number(value) if isinstance(value, int | float) else str(value)


def date_words(when: str) -> str:
    """`15 November 2026, 10:43 UTC`."""
    moment = datetime.datetime.fromisoformat(when)
    return f"{moment.day} {moment:%B %Y, %H:%M} {moment.tzname() or ''}".strip()


def sentence(text: str) -> str:
    """The text with a capital letter."""
    return text[:1].upper() + text[1:]

