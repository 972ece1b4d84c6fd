"""The terms of a data set, in words for everybody."""

from __future__ import annotations

from collections.abc import Iterable

from discreet.decision.law.policy import Policy
from discreet.decision.law.rules import promises
from discreet.intruder.bounds.result import Rung

RULES = {
    "static": "A set of tables was chosen once. Every table within them is published; all others "
    "are refused, whoever asks. A set that was searched for in the data tells something by what it "
    "leaves out, once; a set that was given without a look at the data tells nothing.",
    "myopic": "A table is published on request if it is safe with all that is out. What is "
    "published makes other tables unsafe.",
    "simulatable": "A table is published on request if, as far as the public can tell, it is most "
    "likely safe, and is safe by the data. Most refusals tell nothing about the data; one that "
    "only the data explain tells that the table is among the few that would be unsafe.",
}
UNGATED = (
    "A table is published on request if, as far as the public can tell, it is most likely safe: "
    "what is asked of it below is likely, and not certain. A refusal tells nothing about the data."
)
VINTAGE = (
    "The data are one of several vintages. What two of them together tell of those who came or "
    "went is judged as tables of their own; what is out of one vintage alone is taken to tell "
    "nothing of the others."
)
APPROVALS = {
    "never": "What is not proven to be safe is refused.",
    "review": "What is not proven to be safe is decided by a custodian.",
    "always": "A custodian decides on every request.",
}
PERTURBED = (
    "Instead of a table that is refused as unsafe a perturbed one can be had: it keeps all that is "
    "out, its other counts are drawn by chance and are no counts of the data, and so it tells "
    "nothing beyond what is out."
)


OUTER = "What is out rests on outer bounds, which prove nothing."
OUTER_BEFORE = "Some of what is out rests on outer bounds, which prove nothing."
LINEAR = (
    "What is out rests on linear bounds: tables of fractions reach every width, tables of whole "
    "numbers were not always seen."
)
LINEAR_BEFORE = (
    "Some of what is out rests on linear bounds: tables of fractions reach every width, tables of "
    "whole numbers were not always seen."
)
SEARCHED = "This set was searched for in the data."
GIVEN = "This set was given."
CHANGED = (
    "The terms were changed since the data were opened: what went out before was judged by the "
    "terms of its time."
)


def note_words(policy: Policy, before: Iterable[Policy] = ()) -> str | None:
    """The first line of all that the public is told, if less than whole tables was proof.

    `before`: other policies under which something went out.
    """
    now, past = policy.bounds.proof, {other.bounds.proof for other in before}
    for rung, said, said_before in (
        (Rung.OUTER, OUTER, OUTER_BEFORE),
        (Rung.LINEAR, LINEAR, LINEAR_BEFORE),
    ):
        if now == rung or rung in past:
            return said if now == rung else said_before
    return None


def changed_words(version: int) -> list[str]:
    """Is there something out that another policy allowed?"""
    return [CHANGED] if version > 1 else []


def frontier_words(policy: Policy, searched: bool | None) -> list[str]:
    """Where the set comes from that the static rule serves; earlier versions did not keep it."""
    if policy.server.rule != "static" or searched is None:
        return []
    return [SEARCHED if searched else GIVEN]


def proof_words(policy: Policy) -> str:
    """Are the bounds proven?"""
    if policy.bounds.proof == Rung.LINEAR:
        return (
            "A span counts as wide enough if tables that fit all that is out reach it, fractions "
            "of people allowed, as linear programs find them: in whole numbers the true span can "
            "be narrower. Where not even that is seen, the doubt counts against the table or goes "
            "to a custodian."
        )
    if policy.bounds.proof == Rung.OUTER:
        return (
            "The possible values are computed as outer bounds: the true span can be narrower than "
            "what is computed, so that a span which seems wide enough is not proven to be."
        )
    return (
        "A span counts as wide enough only if that is proven, by tables of whole numbers that fit "
        "all that is out. Where there is doubt, the doubt counts against the table or goes to a "
        "custodian."
    )


def policy_words(
    policy: Policy,
    *,
    note: str | None = None,
    version: int = 1,
    vintage: bool = False,
    searched: bool | None = None,
) -> list[str]:
    """What everybody may know of the terms; `note` is what `note_words` says.

    `searched`: was the frontier found in the data?
    """
    rule = policy.server
    words = [] if note is None else [note]
    silent = rule.rule == "simulatable" and not rule.gate
    words += [UNGATED if silent else RULES[rule.rule], *frontier_words(policy, searched)]
    words += [*promises(policy), proof_words(policy)]
    words += [*changed_words(version), *([VINTAGE] if vintage else [])]
    if rule.rule != "static":
        words.append(APPROVALS[rule.approval])
        if rule.max_order:
            words.append(f"A table has at most {rule.max_order} variables.")
        words.append(f"A table has at most {rule.cells:,} cells.")
        if rule.curated:
            words.append("Only tables that a custodian has listed can be asked for.")
        if rule.quota:
            words.append(f"An account gets at most {rule.quota} new tables in a day.")
    if rule.perturbed:
        words.append(PERTURBED)
    return words
