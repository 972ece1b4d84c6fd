"""What is believed of each respondent by itself: own centres, spreads, sources and laws."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.intruder.linkage.laws import Factor, Law, log_integral, log_product, spread_out

NORMAL = Law("normal")


@dataclass(frozen=True, eq=False)
class Around:
    """One law around a centre of each respondent, nan if it is not known."""

    law: Law
    center: Floats
    spread: Floats
    log: bool

    @property
    def told(self) -> Floats:
        return np.column_stack([self.center, np.where(np.isnan(self.center), 0, self.spread)])

    @property
    def deviation(self) -> float:
        return _typical(self.law.deviation * self.spread, self.center)

    def logs(self, x: float, rows: Ints) -> Floats:
        return self.law.log_density(x - self.center[rows], self.spread[rows])

    def drawn(self, rows: Ints, rng: np.random.Generator) -> Floats:
        return self.center[rows] + self.law.draw(self.spread[rows], rng)

    def wider(self, times: float) -> Around:
        return replace(self, spread=self.spread * times)


@dataclass(frozen=True, eq=False)
class Combined:
    """Several sources of each respondent's value, and what masking adds, if anything.

    f(x) = int g(x - t) prod_k L_k(s_k - t) dt / int prod_k L_k(s_k - t) dt
    """

    factors: tuple[Factor, ...]
    noise: tuple[Law, Floats] | None
    log: bool

    @cached_property
    def center(self) -> Floats:
        """Stated values, weighted by precision."""
        weights = [np.where(np.isnan(c), 0, (law.deviation * s) ** -2.0)
                   for law, c, s in self.factors]  # fmt: skip
        total = np.sum(weights, 0)
        each = [w * np.nan_to_num(c) for w, (_, c, _) in zip(weights, self.factors, strict=True)]
        with np.errstate(invalid="ignore"):
            return np.asarray(np.sum(each, 0) / total)

    @property
    def told(self) -> Floats:
        columns = [part for _, c, s in self.factors for part in (c, np.where(np.isnan(c), 0, s))]
        return np.column_stack([*columns, *([self.noise[1]] if self.noise else [])])

    @property
    def deviation(self) -> float:
        first = min(_typical(law.deviation * s, c) for law, c, s in self.factors)
        more = _typical(self.noise[0].deviation * self.noise[1], self.center) if self.noise else 0.0
        return float(np.hypot(first, more))

    @cached_property
    def total(self) -> Floats:
        """Log of the integral of each respondent's likelihoods; nan if there are none."""
        found = np.full(len(self.center), np.nan)
        some = np.flatnonzero(~np.isnan(self.center))
        found[some] = log_integral(self._of(some))
        return found

    def _of(self, rows: Ints) -> list[Factor]:
        return [(law, c[rows], s[rows]) for law, c, s in self.factors]

    def logs(self, x: float, rows: Ints) -> Floats:
        found = np.full(len(rows), np.nan)
        there = ~np.isnan(self.center[rows])
        rows = rows[there]
        if not len(rows):
            return found
        if self.noise is None:
            each = log_product(self._of(rows), np.full(len(rows), x))
        else:
            law, spread = self.noise
            each = log_integral([*self._of(rows), (law, np.full(len(rows), x), spread[rows])])
        found[there] = each - self.total[rows]
        return found

    def drawn(self, rows: Ints, rng: np.random.Generator) -> Floats:
        found = np.full(len(rows), np.nan)
        there = ~np.isnan(self.center[rows])
        rows = rows[there]
        if len(rows):
            true, logs = spread_out(self._of(rows))
            upto = np.cumsum(np.exp(logs - logs.max(1, keepdims=True)), 1)
            place = (upto < rng.random((len(rows), 1)) * upto[:, -1:]).sum(1)
            found[there] = true[np.arange(len(rows)), np.minimum(place, true.shape[1] - 1)]
            if self.noise is not None:
                found[there] += self.noise[0].draw(self.noise[1][rows], rng)
        return found

    def wider(self, times: float) -> Combined:
        factors = tuple((law, c, s * times) for law, c, s in self.factors)
        noise = None if self.noise is None else (self.noise[0], self.noise[1] * times)
        return Combined(factors, noise, self.log)


@dataclass(frozen=True, eq=False)
class Belief:
    """One key: released values `x`, and of each respondent which of the `cases` is believed.

    A value that the intruder does not know is as those that are released, a normal density;
    `shown` are those if x is another file.
    """

    name: str
    x: Floats
    cases: tuple[Around | Combined, ...]
    which: Ints
    shown: Floats | None = None

    @property
    def log(self) -> bool:
        return all(case.log for case in self.cases)

    @cached_property
    def center(self) -> Floats:
        """Of each respondent, as released; nan if nothing is known."""
        found = np.full(len(self.which), np.nan)
        for c, case in enumerate(self.cases):
            here = self.which == c
            found[here] = np.exp(case.center[here]) if case.log else case.center[here]
        return found

    @cached_property
    def told(self) -> Floats:
        """Columns in which respondents of whom the same is believed are alike."""
        columns = [self.which.astype(np.float64)[:, None]]
        for c, case in enumerate(self.cases):
            columns.append(np.where((self.which == c)[:, None], case.told, 0.0))
        return np.hstack(columns)

    @cached_property
    def margin(self) -> tuple[float, float]:
        """Mean and standard deviation of released values, of which nothing else is known."""
        x = self.x if self.shown is None else self.shown
        shown = np.log(x[~np.isnan(x)]) if self.log else x[~np.isnan(x)]
        mean, variance = (float(shown.mean()), float(shown.var())) if len(shown) else (0.0, 0.0)
        return mean, float(np.sqrt(variance + max(case.deviation for case in self.cases) ** 2))

    def unknown(self, x: float) -> float:
        """Log density of a released value if nothing is known of it."""
        mean, wide = self.margin
        value, stretch = (np.log(x), np.log(x)) if self.log else (x, 0.0)
        return float(NORMAL.log_density(value - mean, wide) - stretch)

    def logs(self, i: int, rows: Ints) -> Floats:
        """Log density of released record i for these respondents."""
        x = float(self.x[i])
        found = np.zeros(len(rows))
        if np.isnan(x):
            return found
        for c, case in enumerate(self.cases):
            here = self.which[rows] == c
            if case.log and x <= 0:
                found[here] = -np.inf
            elif here.any():
                value, stretch = (np.log(x), np.log(x)) if case.log else (x, 0.0)
                found[here] = case.logs(value, rows[here]) - stretch
        lost = np.isnan(self.center[rows])
        if lost.any():
            found[lost] = self.unknown(x)
        return found

    def drawn(self, like: Ints, rng: np.random.Generator) -> Floats:
        mean, wide = self.margin
        found = mean + wide * rng.normal(size=len(like))
        found = np.exp(found) if self.log else found
        for c, case in enumerate(self.cases):
            here = (self.which[like] == c) & ~np.isnan(self.center[like])
            made = case.drawn(like[here], rng)
            found[here] = np.exp(made) if case.log else made
        return found

    def file(self, x: Floats) -> Belief:
        """The same with other released values."""
        return replace(self, x=x, shown=self.x if self.shown is None else self.shown)

    def wider(self, times: float) -> Belief:
        return replace(self, cases=tuple(case.wider(times) for case in self.cases))


@dataclass(frozen=True, eq=False)
class Own:
    """Keys that are weighed person by person; the errors of the keys `tied` are correlated.

    `correlation`: of these, one matrix for each respondent, or one for all.
    """

    beliefs: tuple[Belief, ...] = ()
    tied: tuple[int, ...] = ()
    correlation: Floats = field(default_factory=lambda: np.zeros((1, 0, 0)))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.beliefs)

    def __bool__(self) -> bool:
        return bool(self.beliefs)

    def told(self, sources: int) -> Floats:
        """Columns that tell respondents apart."""
        columns = [np.zeros((sources, 0)), *(one.told for one in self.beliefs)]
        if len(self.correlation) > 1:
            columns.append(self.correlation.reshape(sources, -1))
        return np.hstack(columns)

    def shown(self, count: int) -> Floats:
        """Released values."""
        return np.column_stack([np.zeros((count, 0)), *(one.x for one in self.beliefs)])

    def logs(self, i: int, rows: Ints) -> Floats:
        """Log density of released record i for these respondents, all keys together."""
        total = np.zeros(len(rows))
        for place, one in enumerate(self.beliefs):
            if place not in self.tied:
                total += one.logs(i, rows)
        return total + self._tied_logs(i, rows) if self.tied else total

    def _tied_logs(self, i: int, rows: Ints) -> Floats:
        """Normal with covariance D_j R D_j, D_j the spreads; of those that are not missing."""
        many = len(self.tied)
        away, spread = np.full((len(rows), many), np.nan), np.ones((len(rows), many))
        constant, total = 0.0, np.zeros(len(rows))
        for d, place in enumerate(self.tied):
            one = self.beliefs[place]
            x, case = float(one.x[i]), one.cases[0]
            assert isinstance(case, Around)
            if np.isnan(x):
                continue
            stretch = np.log(x) if case.log else 0.0
            constant -= stretch
            away[:, d] = (np.log(x) if case.log else x) - case.center[rows]
            spread[:, d] = case.spread[rows]
            lost = np.isnan(away[:, d])
            total[lost] += one.unknown(x) + stretch
        known = ~np.isnan(away)
        matrices = np.broadcast_to(self.correlation, (len(self.correlation), many, many))
        for pattern in np.unique(known, axis=0):
            here, there = np.flatnonzero((known == pattern).all(1)), np.flatnonzero(pattern)
            if not len(there):
                continue
            z = (away / spread)[np.ix_(here, there)]
            own = matrices if len(matrices) == 1 else matrices[rows[here]]
            lower = np.linalg.cholesky(own[:, there][:, :, there])
            white = np.linalg.solve(np.broadcast_to(lower, (len(here), *lower.shape[1:])),
                                    z[:, :, None])[:, :, 0]  # fmt: skip
            heights = np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(1)
            heights = heights + np.log(spread[np.ix_(here, there)]).sum(1)
            total[here] -= (white**2).sum(1) / 2 + heights + len(there) * np.log(2 * np.pi) / 2
        return np.asarray(total + constant)

    def drawn(self, like: Ints, told: set[str], rng: np.random.Generator) -> Own:
        """Released values drawn for these respondents; missing where they are, or as is `told`."""
        made = [one.drawn(like, rng) for one in self.beliefs]
        if self.tied:
            lower = np.linalg.cholesky(self.correlation)
            lower = lower if len(lower) == 1 else lower[like]
            luck = rng.normal(size=(len(like), len(self.tied), 1))
            noise = (np.broadcast_to(lower, (len(like), *lower.shape[1:])) @ luck)[:, :, 0]
            for d, place in enumerate(self.tied):
                case = self.beliefs[place].cases[0]
                there = ~np.isnan(case.center[like])
                assert isinstance(case, Around)
                value = case.center[like] + case.spread[like] * noise[:, d]
                value = np.exp(value) if case.log else value
                made[place] = np.where(there, value, made[place])
        beliefs = []
        for one, x in zip(self.beliefs, made, strict=True):
            missing = np.isnan(one.x) & (one.name not in told)
            beliefs.append(one.file(np.where(missing, np.nan, x)))
        return replace(self, beliefs=tuple(beliefs))

    def hidden(self, name: str, missing: NDArray[np.bool_]) -> Own:
        """The same with one key missing in these released records."""
        beliefs = [
            one.file(np.where(missing, np.nan, one.x)) if one.name == name else one
            for one in self.beliefs
        ]
        return replace(self, beliefs=tuple(beliefs))

    def wider(self, times: float) -> Own:
        """For who knows so many times less precisely."""
        return replace(self, beliefs=tuple(one.wider(times) for one in self.beliefs))


def _typical(deviations: Floats, center: Floats) -> float:
    """The root of their mean square, of those who have a centre; 1 if nobody has."""
    some = deviations[~np.isnan(center)]
    return float(np.sqrt((some**2).mean())) if len(some) else 1.0
