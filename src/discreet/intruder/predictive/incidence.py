"""A company's number of incidents, from the total of companies like it (section 5.3).

Incidents are independent with one rate, so that given their total each is in a company with
probability 1 / N (its share of the exposure): binomial, whatever the rate is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief, Kind

TAIL = 1e-15  # of the probability, left out at either end


def incidents(total: int, companies: int, *, insider: Sequence[int] = ()) -> Belief:
    """Of one of `companies` alike, with `total` incidents together.

    `insider` are the counts of other companies that the intruder knows.

    >>> incidents(12, 4)
    Belief(13 values: most probable 3 with 0.2581, mean 3, exact)
    >>> round(incidents(12, 4, insider=[6]).mean, 9)
    2.0
    """
    _check_whole("the number of companies", companies, 1)
    others = companies - len(insider)
    if others < 1:
        raise DataError(
            f"{len(insider)} of {companies} companies are known; one must be left as the target."
        )
    return incidents_by_exposure(total, 1.0, float(others), insider=insider)


def incidents_by_exposure(
    total: int, own: float, exposure: float, *, insider: Sequence[int] = ()
) -> Belief:
    """Incidents of a company with exposure `own` of `exposure` in all: binomial(total, share).

    What an `insider` knows of other companies is taken off the total; `exposure` is without theirs.

    >>> import discreet as dc
    >>> dc.uncertainty.incidents_by_exposure(12, 25, 100)
    Belief(13 values: most probable 3 with 0.2581, mean 3, exact)
    """
    from scipy.stats import binom

    _check_whole("the number of incidents", total, 0)
    if not 0 < own <= exposure < math.inf:
        raise DataError(f"an exposure of {own:g} out of {exposure:g}; give 0 < own <= all.")
    for known in insider:
        _check_whole("a count that an insider knows", known, 0)
    left = total - sum(insider)
    if left < 0:
        raise DataError(
            f"an insider knows {sum(insider):,} incidents of {total:,}; there are not so many."
        )
    law = binom(left, own / exposure)
    low, high = int(max(0, law.ppf(TAIL))), int(min(left, law.isf(TAIL)))
    values = np.arange(low, high + 1)
    mass = law.pmf(values)
    return Belief.discrete(values, mass / mass.sum())


def incidents_before(exposure: float, rate: Belief) -> Belief:
    """Incidents before the table is out: Poisson(rate x exposure), over a belief about the rate.

    >>> import discreet as dc
    >>> rate = dc.Belief.discrete([0.01, 0.03], [0.5, 0.5])
    >>> round(dc.uncertainty.incidents_before(100, rate).mean, 3)
    2.0
    """
    from scipy.stats import poisson

    means = exposure * rate.values.astype(np.float64)
    if (means < 0).any() or not exposure > 0:
        raise DataError("rates and exposure must not be negative, and the exposure not 0.")
    top = int(poisson.isf(TAIL, means.max())) + 1
    values = np.arange(top + 1)
    weights = rate.mass
    if rate.kind is Kind.DENSITY:  # heights: each point stands for half of what is on either side
        steps = np.diff(rate.values)
        weights = weights * (np.append(steps, 0) + np.append(0, steps)) / 2
    mass = poisson.pmf(values[:, None], means[None]) @ weights
    return Belief.discrete(values, mass / mass.sum())


def least_rate(limit: float, exposure: float, companies: int) -> float:
    """p* that goes with N* = `companies`: with both exceeded the variance is at least `limit`.

        m p* (1 - 1/N*) = limit

    >>> least_rate(2.0, 100, 5)
    0.025
    """
    _check_whole("the number of companies", companies, 2)
    _check_above("the exposure", exposure)
    return limit / (exposure * (1 - 1 / companies))


def least_companies(limit: float, exposure: float, rate: float) -> int:
    """N* that goes with p* = `rate`.

    >>> least_companies(2.0, 100, 0.025)
    5
    """
    _check_above("the exposure", exposure)
    _check_above("the rate", rate)
    room = 1 - limit / (exposure * rate)
    if not room > 0:
        raise DataError(
            f"a rate of {rate:g} means {exposure * rate:g} incidents a company, so that the "
            f"variance stays below {limit:g} for any number of companies; raise the rate."
        )
    return max(2, math.ceil(1 / room - 1e-9))


def dominance_bound(companies: int, share: float) -> float:
    """a*: where no company has more than `share` of the incidents, the variance for an insider
    who knows one company is at least m p a*.

        a* = (1 - f) (1 - 1 / (N* - 1)^2)

    The variance still goes to 0 with the rate p: a dominance rule alone does not protect.

    >>> dominance_bound(5, 0.5)
    0.46875
    """
    _check_whole("the number of companies", companies, 2)
    if not 0 <= share <= 1:
        raise DataError(f"the largest share of a company is {share}; give a number from 0 to 1.")
    return (1 - share) * (1 - 1 / (companies - 1) ** 2)


def _check_whole(what: str, number: float, least: int) -> None:
    if number != int(number) or number < least:
        raise DataError(f"{what} is {number}; give a whole number from {least} on.")


def _check_above(what: str, number: float) -> None:
    if not (math.isfinite(number) and number > 0):
        raise DataError(f"{what} is {number}; give a number above 0.")
