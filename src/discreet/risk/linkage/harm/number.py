"""Harm from a number that is believed to be so and so much.

    H_j = sum_i p_ji E_i[c(t_j, Y)] + p_j0 mean_i E_i[c(t_j, Y)]

p_ji: that released record i is respondent j's, p_j0: that none is, t_j the true number, E_i over
what record i tells of it: its value, or a normal or log-normal belief. Each E_i in closed form.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.linkage.links import Links
from discreet.intruder.linkage.records import Records, numbers
from discreet.risk.linkage.harm.category import covariates
from discreet.risk.linkage.harm.costs import Costs
from discreet.risk.linkage.harm.felt import Harm
from discreet.risk.linkage.harm.losses import NumberLoss, Piece
from discreet.risk.linkage.harm.own import amount
from discreet.risk.linkage.harm.partial import of_lognormal, of_normal
from discreet.risk.linkage.harm.told import ToldNumber
from discreet.risk.linkage.identification import Identification
from discreet.risk.linkage.inference import mixed
from discreet.risk.linkage.regression import Regression, regression

PAIRS = 1_000_000  # of respondents and records, at a time
MOST_POOLED = 100_000_000  # of respondents and values that are nobody's: beyond, condensed
MOST_SPREAD = 10_000_000  # the same, where each value has a spread
CONDENSED, ENDS = 1_000, 200


@dataclass(frozen=True, eq=False)
class Held:
    """What records tell of a number: the value `centre`, or a normal belief about it with the
    standard deviation `spread`; of its logarithm if `logs`."""

    centre: Floats
    spread: Floats
    logs: bool = False

    @property
    def mean(self) -> Floats:
        return np.exp(self.centre + self.spread**2 / 2) if self.logs else self.centre

    @property
    def variance(self) -> Floats:
        wide = self.spread**2
        return np.expm1(wide) * np.exp(2 * self.centre + wide) if self.logs else wide

    def take(self, places: Any) -> Held:
        return Held(self.centre[places], self.spread[places], self.logs)

    def expected(self, loss: NumberLoss, truth: Floats) -> Floats:
        """E c(truth, Y), element by element."""
        if not self.spread.any():
            return loss.cost(truth, self.centre)
        return self._over(loss.pieces(truth), truth)

    def perceived(self, loss: NumberLoss, estimate: Floats) -> Floats:
        """E c(X, estimate), element by element."""
        if loss.name == "relative":
            return self._relative(estimate)
        if not self.spread.any():
            return loss.cost(self.centre, estimate)
        return self._over(loss.pieces_of_truth(estimate), estimate)

    def _over(self, pieces: list[Piece], about: Floats) -> Floats:
        law = of_lognormal if self.logs else of_normal
        total = np.zeros(np.broadcast_shapes(about.shape, self.centre.shape))
        for low, high, *factors in pieces:
            moments = law(self.centre, self.spread, low, high, about)
            for factor, moment in zip(factors, moments, strict=True):
                if np.any(factor):
                    total = total + factor * moment
        return np.maximum(0.0, total)

    def _relative(self, d: Floats) -> Floats:
        """E (d/X - 1)^2; infinite for a density that reaches 0."""
        wide = self.spread**2
        if self.logs:
            first, second = np.exp(-self.centre + wide / 2), np.exp(-2 * self.centre + 2 * wide)
            return np.asarray(d**2 * second - 2 * d * first + 1)
        never = (self.spread > 0) | (self.centre == 0)
        return np.where(never, math.inf, (d / np.where(never, 1.0, self.centre) - 1) ** 2)


def harm_of_number(
    records: Records,
    found: Identification,
    costs: Costs,
    best: Ints,
    right: NDArray[np.bool_],
    groups: Mapping[str, NDArray[np.object_]],
) -> Harm:
    """Expected harm over the belief of whoever is linked, and that of acting on its mean."""
    true, held, model = _numbers(records, costs)
    linked = best >= 0
    mean, spread = _moments(found.links, held)
    if costs.belief == "record":
        own = held.take(best)
        mean = np.where(linked, own.mean, mean)
        spread = np.where(linked, np.sqrt(own.variance), spread)
    exact = True
    expected, seen, of_estimate = np.zeros((3, len(true)))
    for side, which in _sides(costs, linked, right):
        loss, rows = side.number_loss(records), np.flatnonzero(which)
        if not loss.closed and held.spread.any():
            raise DataError("a cost that is a function needs numbers without spread; write points.")
        loss.check_truth(true)
        at, t, d = _at(loss, rows), true[rows], mean[rows]
        of_estimate[rows] = at.cost(t, d)
        if costs.belief == "record":
            own = held.take(best[rows])
            expected[rows], seen[rows] = own.expected(at, t), own.perceived(at, d)
        else:
            expected[rows], seen[rows], whole = _mixed(found.links, held, at, rows, t, d)
            exact &= whole
    known = spread**2 <= costs.widest**2 * (1 + 1e-12)
    near = np.isclose(mean, true, rtol=1e-9, atol=0) | (np.abs(mean - true) <= costs.near)
    told = np.where(known, 3 + 2 * right + near, 1 + right)
    outcome = np.where(linked, told, 0).astype(np.int64)
    missed = [amount(costs.costs.get(name, 0.0), records, name, least=0) for name in ("FN", "TN")]
    silent = np.where(right, missed[1], missed[0])
    times = amount(costs.times, records, "times", least=0)
    sums = [
        np.where(linked, np.where(known, each, silent), 0.0) * times
        for each in (expected, of_estimate, seen)
    ]
    believed = ToldNumber(mean, spread, sums[1], sums[2], model, exact)
    return Harm(costs, outcome, sums[0], groups, told=believed)


def _sides(
    costs: Costs, linked: NDArray[np.bool_], right: NDArray[np.bool_]
) -> list[tuple[Costs, NDArray[np.bool_]]]:
    """Costs, and whom they are of: after a wrong link they may be others."""
    if not costs.wrong:
        return [(costs, linked)]
    return [(costs, linked & right), (costs.after_wrong_link, linked & ~right)]


def _numbers(records: Records, costs: Costs) -> tuple[Floats, Held, Regression | None]:
    """True numbers, what each released record tells, and the model."""
    name = costs.sensitive
    true = numbers(records.source[name], name, records.names[0])
    seen = numbers(records.released[name], name, records.names[1])
    if np.isnan(true).any() or np.isnan(seen).any():
        raise DataError(f"{name!r} has missing values; harm needs them all.")
    error = costs.spread or costs.log_spread
    if not error:
        return true, Held(seen, np.zeros(len(seen))), None
    logs = costs.log_spread > 0
    model = regression(seen, covariates(records, costs), error, name=name, logs=logs)
    return true, Held(model.centre, np.full(len(seen), model.spread), logs), model


def _moments(links: Links, held: Held) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the mixture over candidates, for each respondent."""
    middle = float(held.mean.mean())
    away = held.mean - middle
    powers = np.column_stack([away, away**2 + held.variance])
    first, second = mixed(links, powers, powers.mean(0))[links.source.of].T
    return middle + first, np.sqrt(np.maximum(second - first**2, 0.0))


def _mixed(
    links: Links, held: Held, loss: NumberLoss, rows: Ints, truth: Floats, estimate: Floats
) -> tuple[Floats, Floats, bool]:
    """Expected and perceived harm over all candidates and, for the null link, over all records."""
    expected, seen, total = np.zeros((3, len(rows)))
    for place, record, chance in _pairs(links, rows):
        part, at = held.take(record), _at(loss, place)
        for sums, costs in (
            (expected, part.expected(at, truth[place])),
            (seen, part.perceived(at, estimate[place])),
        ):
            sums += np.bincount(place, np.where(chance > 0, chance * costs, 0.0), len(rows))
        total += np.bincount(place, chance, len(rows))
    null = np.clip(1 - total, 0, 1)
    some = np.flatnonzero(null > 0)
    pool, weights, exact = _pool(held, len(some))
    step = max(1, PAIRS // len(weights))
    for start in range(0, len(some), step):
        those = some[start : start + step]
        at = _at(loss, those, column=True)
        t, d = truth[those][:, None], estimate[those][:, None]
        expected[those] += null[those] * (pool.expected(at, t) @ weights)
        seen[those] += null[those] * (pool.perceived(at, d) @ weights)
    return expected / (total + null), seen / (total + null), exact


def _pairs(links: Links, rows: Ints) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Respondents' places in `rows`, their candidate records, and how probable each is."""
    order = np.argsort(links.released.of, kind="stable")
    many = links.released.times
    first = np.cumsum(many) - many
    owner, edge = _expand(links.starts[:-1], np.diff(links.starts), links.source.of[rows])
    sizes = many[links.places[edge]]
    ends = np.cumsum(sizes)
    start = 0
    while start < len(edge):
        done = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, done + PAIRS, "right")), start + 1)
        inner, place = _expand(first, many, links.places[edge[start:stop]])
        yield owner[start:stop][inner], order[place], links.chances[edge[start:stop]][inner]
        start = stop


def _expand(starts: Ints, sizes: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """The places from starts[c] on, sizes[c] of them, of each c in `chosen`; and whose each is."""
    many = sizes[chosen]
    owner = np.repeat(np.arange(len(chosen)), many)
    inner = np.arange(len(owner)) - np.repeat(np.cumsum(many) - many, many)
    return owner, starts[chosen][owner] + inner


def _pool(held: Held, asked: int) -> tuple[Held, Floats, bool]:
    """All records, equal ones together; where that is too many, neighbours as one normal belief
    with their mean and variance."""
    centre, place, times = np.unique(held.centre, return_inverse=True, return_counts=True)
    spread = np.zeros(len(centre))
    spread[place] = held.spread
    weights = times / times.sum()
    if asked * len(centre) <= (MOST_SPREAD if spread.any() else MOST_POOLED):
        return Held(centre, spread, held.logs), weights, True
    place, share = np.arange(len(centre)), np.cumsum(weights) - weights / 2
    middle = (share * CONDENSED).astype(int)
    group = np.where(place < ENDS, place - ENDS, middle)  # the ends, one by one
    last = place - len(place) + ENDS
    group = np.unique(np.where(last >= 0, CONDENSED + last, group), return_inverse=True)[1]
    mass = np.bincount(group, weights)
    mean = np.bincount(group, weights * centre) / mass
    away = (centre - mean[group]) ** 2 + spread**2
    wide = np.sqrt(np.bincount(group, weights * away) / mass)
    wide = np.maximum(wide, 1e-12 * np.maximum(1.0, np.abs(mean)))
    return Held(mean, wide, held.logs), mass.astype(np.float64), False


def _at(loss: NumberLoss, rows: Ints, *, column: bool = False) -> NumberLoss:
    """The cost of some respondents, where each has their own."""
    own = {
        f.name: getattr(loss, f.name)[rows][:, None] if column else getattr(loss, f.name)[rows]
        for f in fields(loss)
        if isinstance(getattr(loss, f.name), np.ndarray)
    }
    return replace(loss, **own) if own else loss
