"""What a policy means besides what it says: a least printed count is also meant of what follows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.decision.law.policy import Policy

LEAST, MOST = "published.least", "small.most"
LEASTS = re.compile(r":\s*(\d+)\s*(?:;|$)")  # of published.tables


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
    >>> implied_words(Policy.of({"published.tables": "Sex*Town: 4"}))
    'a count of 3 may follow from printed ones'
    """
    least, most, said = policy.published.least, policy.small.most, []
    if least - 1 == most and most != type(policy)().small.most:
        said.append(f"small.most = {most}, one less than published.least")
    printed = max([least, *map(int, LEASTS.findall(policy.published.tables))]) - 1
    kept = most if policy.small.width else 0
    if printed > kept:
        follows = f"counts from {kept + 1} to" if printed > kept + 1 else "a count of"
        said.append(f"{follows} {printed} may follow from printed ones")
    return "; ".join(said)
