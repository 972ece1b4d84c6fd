"""Publishing as the office's policy says: its section `publish`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.decision.law.policy import Policy
from discreet.decision.survey.plugin import PlugIn, plug_in
from discreet.decision.survey.publish import Publication, publish
from discreet.errors import PolicyError

CUTS = ("ratio", "share", "risk")


def for_this_run(policy: Policy, options: Mapping[str, Any]) -> Policy:
    """The policy with the options that were given (not None) in place of its keys.

    A limit of another kind than the policy's is refused if the policy's is locked.

    >>> print(for_this_run(Policy(), {"risk": 0.2, "edge": None}).described)
    discreet's defaults (publish.cut = "risk", publish.risk = 0.2)
    """
    given = {name: value for name, value in options.items() if value is not None}
    cuts = [name for name in CUTS if name in given]
    if len(cuts) > 1:
        raise PolicyError(f"{' and '.join(cuts)} are given; choose one of them.")
    now = policy.publish.cut
    if cuts and cuts[0] != now:
        if (held := f"publish.{now}") in policy.locked:
            raise PolicyError(
                f"{held} is locked by the policy {policy.locked[held]!r}; a {cuts[0]} cannot take "
                "its place."
            )
        given["cut"] = cuts[0]
    if "floor" in given or "estimator" in given:
        given.setdefault("rule", "plug-in")
    found = policy.for_this_run({f"publish.{name}": value for name, value in given.items()})
    if "risk" in given and found.publish.limit == "floor":
        raise PolicyError(
            "a floor decides every cell, whatever the risk; give one of them, or the rule bayes."
        )
    return found


def rule_of(policy: Policy) -> dict[str, Any]:
    """What `publish` and `plan` are asked."""
    keys = policy.publish
    return {
        "disclosure": keys.disclosure_loss,
        "nonpublication": keys.nonpublication_loss,
        keys.cut: getattr(keys, keys.cut),
        "edge": keys.edge,
    }


def plugged(found: Publication, policy: Policy) -> tuple[Publication, PlugIn | None]:
    """The publication by the policy's rule, and the plug-in rule if it is that."""
    keys = policy.publish
    if keys.rule != "plug-in":
        return found, None
    beside = plug_in(found, floor=None if keys.floor < 0 else keys.floor)
    return beside.decided(keys.estimator), beside


def publish_by(policy: Policy, n: Any, N: Any, y: Any, **options: Any) -> Publication:
    """`publish` by the section `publish` of a policy; the options are those of the data.

    >>> import discreet as dc
    >>> office = dc.Policy.of({"publish.ratio": 0.8})
    >>> dc.survey.publish_by(office, [3, 3, 5], [8, 8, 20], [1, 2, 1], alpha=1, beta=10)
    Publication(2 of 3 cells published: 75% of the data, 73% of the risk; publish where R1 < 0.8 R0)
    """
    return plugged(publish(n, N, y, **options, **rule_of(policy)), policy)[0]
