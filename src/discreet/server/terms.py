"""The terms of a data set, in words for everybody."""

from __future__ import annotations

from discreet.decision.policy import Policy

RULES = {
    "static": "A set of tables was chosen once. Every table within them is published; all others "
    "are refused, whoever asks.",
    "myopic": "A table is published on request if it is safe with all that is out. What is "
    "published makes other tables unsafe.",
    "simulatable": "A table is published on request if, as far as the public can tell, it is most "
    "likely safe. A refusal tells nothing about the data.",
}
APPROVALS = {
    "never": "What is not proven to be safe is refused.",
    "review": "What is not proven to be safe is decided by a custodian.",
    "always": "A custodian decides on every request.",
}


def policy_words(policy: Policy) -> list[str]:
    """What everybody may know of the terms."""
    rule, small = policy.server, policy.small
    words = [
        RULES[rule.rule],
        f"A count of 1 to {small.most} is small. Whoever knows all that is published still finds "
        f"an interval at least {small.width} wide for each of them.",
    ]
    if policy.attribute.check:
        words.append(
            f"No table tells the category of {policy.attribute.share:.0%} or more of a group."
        )
    if rule.rule != "static":
        words.append(APPROVALS[rule.approval])
        if rule.max_order:
            words.append(f"A table has at most {rule.max_order} variables.")
        words.append(f"A table has at most {rule.cells:,} cells.")
        if rule.curated:
            words.append("Only tables that a custodian has listed can be asked for.")
        if rule.quota:
            words.append(f"An account gets at most {rule.quota} new tables in a day.")
    return words
