"""A person's category, from a table of counts (Duncan & Lambert 1986, sections 3, 5.1, 5.2).

Who is exchangeable with everybody in a table, and in it, has each category with the published
share of it, whatever the exchangeable prior (the theorem of the appendix). Who is in a sample
with probability f only has it with probability f p + (1 - f) q.
"""

from __future__ import annotations

import math

import numpy as np

from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.predictive.priors import Counts, Prior, ordered


def census(counts: Counts) -> Belief:
    """Of somebody who is in the table: the shares of the categories.

    >>> census({"10-19": 163, "20-29": 31, "30+": 30})
    Belief(3 values: most probable 10-19 with 0.7277, exact)
    """
    n = ordered(counts, map(str, counts))
    if not n.sum():
        raise DataError("the table is empty; nobody in it can be a target.")
    return Belief.discrete([str(name) for name in counts], n / n.sum())


def sampled(counts: Counts, fraction: float, outside: Belief | Prior | None = None) -> Belief:
    """Of somebody who is in the sample with probability `fraction`: f p + (1 - f) q.

    `outside` is q, the belief about somebody who is not in the sample, or the prior that the
    sample updates to it; if it is not given, q = p: nothing but the sample is known.

    >>> from discreet.intruder.predictive.priors import Independent
    >>> sampled({"yes": 9, "no": 1}, 0.5, Independent.of({"yes": 0.5, "no": 0.5}))
    Belief(2 values: most probable yes with 0.7000, exact)
    """
    check_fraction(fraction)
    inside = census(counts)
    if outside is None:
        return inside
    q = outside if isinstance(outside, Belief) else outside.given(counts)
    if set(map(str, q.values)) != set(map(str, inside.values)):
        strange = set(map(str, q.values)) ^ set(map(str, inside.values))
        raise DataError(f"{min(strange)!r} is in the table or in the prior, but not in both.")
    mass = [q.probability(value) for value in inside.values]
    mixed = fraction * inside.mass + (1 - fraction) * np.array(mass)
    return Belief.discrete(inside.values, mixed)


def check_fraction(fraction: float) -> None:
    if not (math.isfinite(fraction) and 0 < fraction <= 1):
        raise DataError(f"the sampling fraction is {fraction}; give a number above 0, up to 1.")
