"""One of N values, when their number and their total are published (sections 3 and 5.4).

    f(x | total) = f(x) f_{N-1}(total - x) / f_N(total)

with f_n the density of a sum of n values (Duncan & Lambert 1986, equation 1). Values above
total - (N - 1) minimum cannot be, and exp(-theta x) cancels: the convolution runs on a bounded
interval, tilted so that the total is what is expected, whatever the family.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.errors import DataError, SolverError
from discreet.intruder.belief.belief import Belief, Kind
from discreet.intruder.predictive.convolution import integral, interpolate, log_sum, power
from discreet.intruder.predictive.families import Family, Pareto
from discreet.look.result import Unpublished

A_SCALE = 16  # grid points in the finest part of the density, at first
MOST_POINTS = 1 << 22
CLOSE = 1e-7
POINTS = 6000  # of the belief, from either end
NODES = 24  # of a prior density


@dataclass(frozen=True, eq=False)
class ValueGivenTotal(Unpublished):
    """What is believed of one value, and how probable the total was: log f_N(total).

    >>> found = value_given_total(507.862, 11, Pareto(1.2765, minimum=10))
    >>> round(found.belief.mean, 3), found
    (46.169, ValueGivenTotal(11 values with total 507.862, Pareto(1.276) from 10))
    """

    total: float
    number: int
    family: Family | None
    belief: Belief
    log_evidence: float

    def __repr__(self) -> str:
        law = self.family or "several families"
        return f"ValueGivenTotal({self.number:,} values with total {self.total:g}, {law})"


def pareto_alpha(total: float, number: int, minimum: float) -> float:
    """The moment estimate: mean / (mean - minimum).

    >>> round(pareto_alpha(507.862, 11, 10), 4)
    1.2765
    """
    room = _room(total, number, minimum)
    return total / room


def value_given_total(
    total: float, number: int, family: Family, *, scale: float | None = None
) -> ValueGivenTotal:
    """The belief about one of `number` independent values of a family with this total.

        f(x | total) = f(x) f_{N-1}(total - x) / f_N(total)

    with f_n the density of a sum of n values (Duncan & Lambert 1986, equation 1).

    `scale` is the width of what its grid has to show; that of the family if not given.

    >>> import discreet as dc
    >>> estates = dc.uncertainty.Pareto(1.2765, minimum=10)
    >>> found = dc.uncertainty.value_given_total(507.862, 11, estates)
    >>> found
    ValueGivenTotal(11 values with total 507.862, Pareto(1.276) from 10)
    >>> round(found.belief.mean, 3), round(found.belief.quantile(0.5), 1)
    (46.169, 19.6)
    """
    room = _room(total, number, family.minimum)
    if number == 1:
        log = float(family.log_density(np.array([total]))[0])
        return ValueGivenTotal(total, 1, family, Belief.discrete([total], [1.0]), log)
    sums = _settled(room, number, family)
    belief = _belief(family, sums, scale or family.scale)
    return ValueGivenTotal(total, number, family, belief, sums.log_evidence)


def sum_density(at: ArrayLike, number: int, family: Family) -> Floats:
    """f_N: the density of the sum of `number` independent values of a family, at these totals.

    Below `number` times the minimum it is 0 (Duncan & Lambert 1986, equation 1 and appendix).

    >>> import discreet as dc
    >>> estates = dc.uncertainty.Pareto(1.2765, minimum=10)
    >>> float(dc.uncertainty.sum_density(507.862, 11, estates).round(9))
    0.000743838
    """
    totals = np.asarray(at, np.float64)
    _check_number(number)
    if not np.isfinite(totals).all():
        raise DataError("a total must be a finite number; leave out what is not.")
    found = np.zeros(totals.size)
    for place, total in enumerate(totals.ravel().tolist()):
        room = total - number * family.minimum
        if room > 0 and number == 1:
            found[place] = np.exp(family.log_density(np.array([total])))[0]
        elif room > 0:
            found[place] = math.exp(_settled(room, number, family).log_evidence)
    return found.reshape(totals.shape)


def value_under_prior(
    total: float, number: int, families: Sequence[Family], weights: ArrayLike
) -> ValueGivenTotal:
    """The belief about one of `number` values with this total when the family is uncertain.

    That of each family, or parameter, with its weight times how probable it made the total.

    >>> import discreet as dc
    >>> families = [dc.uncertainty.Pareto(alpha, minimum=10) for alpha in (1.1, 1.5)]
    >>> found = dc.uncertainty.value_under_prior(507.862, 11, families, [0.5, 0.5])
    >>> [round(weight, 3) for weight, _ in found.belief.parts]
    [0.711, 0.289]
    """
    shares = np.asarray(weights, np.float64)
    if len(shares) != len(families) or not len(shares):
        raise DataError(f"{len(families)} families but {len(shares)} weights; give one each.")
    if (shares < 0).any() or not abs(shares.sum() - 1) < 1e-6:
        raise DataError(f"the weights of the families sum to {shares.sum():.9g}, not to 1.")
    kept = [i for i in range(len(shares)) if shares[i] > 0]
    scale = min(families[i].scale for i in kept)
    found = [value_given_total(total, number, families[i], scale=scale) for i in kept]
    logs = np.log(shares[kept]) + np.array([each.log_evidence for each in found])
    evidence = log_sum(logs)
    if not math.isfinite(evidence):
        raise DataError(f"the prior gives no probability to a total of {total:g}; widen the prior.")
    belief = Belief.mixture([each.belief for each in found], np.exp(logs - evidence))
    return ValueGivenTotal(total, number, None, belief, evidence)


def pareto_prior(alpha: Belief, minimum: float) -> tuple[list[Family], Floats]:
    """Pareto families and their weights, from a belief about alpha."""
    if alpha.kind is Kind.DENSITY:
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        values = np.array([alpha.quantile(float(u)) for u in (nodes + 1) / 2])
        weights = weights / 2
    else:
        values, weights = alpha.values.astype(np.float64), alpha.mass
    return [Pareto(float(a), minimum) for a in values], weights


@dataclass(frozen=True, eq=False)
class _Sums:
    """On the grid z of [0, room]: the density of the sum of the others, tilted by theta."""

    z: Floats
    others: Floats
    theta: float
    log_evidence: float


def _settled(room: float, number: int, family: Family) -> _Sums:
    """On grids that are halved until the density of the total stands still."""
    points = max(64, math.ceil(A_SCALE * room / family.scale))
    logs: list[float] = []
    while points <= MOST_POINTS:
        sums = _convolved(room, number, family, points)
        logs.append(sums.log_evidence)
        change = np.abs(np.diff(logs))
        if len(change) and change[-1] < CLOSE * max(1.0, abs(logs[-1])):
            return sums
        if len(change) > 3 and change[-1] > change[-3]:
            break
        points *= 2
    raise SolverError(
        f"{number:,} values with a total of {room + number * family.minimum:g} are too improbable "
        f"under {family}, or its density is too fine; fit the family to the total, or raise the "
        "minimum."
    )


def _convolved(room: float, number: int, family: Family, points: int) -> _Sums:
    h = room / points
    z = np.linspace(0, room, points + 1)
    log = family.log_density(family.minimum + z)
    nowhere = f"{family} gives no probability to {number:,} values that sum to this; widen it."
    if not np.isfinite(log).any():
        raise DataError(nowhere)

    def tilted(theta: float) -> Floats:
        raised = log - theta * z
        return np.asarray(np.exp(raised - raised.max()))

    def off(theta: float) -> float:
        f = tilted(theta)
        return float((z * f).sum() / f.sum() - room / number)

    reach = 4 * number / room
    while off(-reach) < 0 or off(reach) > 0:
        reach *= 4
        if reach > 1e6 * number / room:
            raise DataError(nowhere)
    low, high = -reach, reach
    for _ in range(40):  # any theta gives the same belief; a good one loses no digits
        theta = (low + high) / 2
        low, high = (theta, high) if off(theta) > 0 else (low, theta)
    f = tilted(theta)
    mass = integral(f, h)
    f = f / mass
    others = np.maximum(power(f, number - 1, h), 0)
    at_total = integral(f * others[::-1], h)
    if not at_total > 0:
        raise DataError(nowhere)
    start = float((log - theta * z).max()) + math.log(mass)
    return _Sums(z, others, theta, math.log(at_total) + theta * room + number * start)


def _belief(family: Family, sums: _Sums, scale: float) -> Belief:
    """f(x) f_{N-1}(total - x) on a grid that is fine at both ends."""
    room = float(sums.z[-1])
    steps = scale * np.expm1(np.linspace(0, math.log1p(room / scale), POINTS))
    steps[-1] = room
    z = np.unique(np.concatenate([steps, room - steps]))
    z = z[np.append(True, np.diff(z) > 1e-12 * room)]
    raised = family.log_density(family.minimum + z) - sums.theta * z
    heights = np.exp(raised - raised.max()) * interpolate(sums.others, float(sums.z[1]), room - z)
    points = np.maximum(heights, 0)
    if not family.minimum and not points[0]:
        z, points = z[1:], points[1:]  # so that 1/x is a number
    x = family.minimum + z
    area = float((np.diff(x) * (points[1:] + points[:-1]) / 2).sum())
    return Belief.density(x, points / area)


def _room(total: float, number: int, minimum: float) -> float:
    _check_number(number)
    room = total - number * minimum
    if not math.isfinite(total) or not room > 0:
        raise DataError(
            f"the total is {total:g}, but {number:,} values of at least {minimum:g} sum to more "
            f"than {number * minimum:g}; check the total, their number and the minimum."
        )
    return room


def _check_number(number: int) -> None:
    if number < 1 or number != int(number):
        raise DataError(f"the number of values is {number}; give a whole number from 1 on.")
