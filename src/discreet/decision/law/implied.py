"""What a policy means besides what it says: a least printed count is also meant of what follows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.decision.law.policy import Policy

LEAST, MOST = "published.least", "small.most"


def with_implied(changes: Mapping[str, Any], policy: Policy, usual: int) -> dict[str, Any]:
    """The changes, and `small.most` one below `published.least` where only that is set.

    Two printed tables can give away by subtraction a count that neither shows. `usual` is the
    default of `small.most`, below which it does not go by itself.
    """
    least = changes.get(LEAST)
    if type(least) is not int or MOST in {*changes, *policy.stated, *policy.locked}:
        return dict(changes)
    return {**changes, MOST: max(usual, least - 1)}


def implied_words(policy: Policy) -> str:
    """What the first line of a verdict says of `small.most` beside `published.least`.

    >>> from discreet.decision.law.policy import Policy
    >>> implied_words(Policy.of({"published.least": 10}))
    'small.most = 9, one less than published.least'
    >>> implied_words(Policy.of({"published.least": 10, "small.most": 4}))
    'counts from 5 to 9 may follow from printed ones'
    """
    least, most = policy.published.least, policy.small.most
    usual = type(policy)()
    if (least, most) == (usual.published.least, usual.small.most):
        return ""
    if least - 1 == most:
        return f"small.most = {most}, one less than published.least"
    if least - 1 > most:
        follows = f"counts from {most + 1} to" if least - 1 > most + 1 else "a count of"
        return f"{follows} {least - 1} may follow from printed ones"
    return ""
