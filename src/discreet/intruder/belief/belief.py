"""What an intruder believes about one number or category: a predictive distribution."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.intruder.belief.atoms import (
    check_lengths,
    check_share,
    checked_mass,
    checked_values,
    gathered,
    inside,
    numeric,
    plain,
    shortest,
)
from discreet.intruder.belief.effective import error_of_mean, kish
from discreet.intruder.belief.gridded import Gridded
from discreet.look.result import Result
from discreet.look.words import number, plural
from discreet.table.cells import frame

CLOSE = 1e-6  # of a sum of probabilities to one
CLOSE_INTEGRAL = 1e-3
Event = Any  # a value, (low, high), a set of values, or a function of the value


class Kind(StrEnum):
    """How a belief is held."""

    DISCRETE = "discrete"
    DENSITY = "density"
    DRAWS = "draws"


@dataclass(frozen=True, eq=False)
class Belief(Result):
    """A distribution over values: probabilities, a density on a grid, or draws with weights.

    `mass` are the probabilities, the heights of the density (linear between grid points) or the
    weights of the draws, which sum to one. `effective` is how many independent draws the
    probabilities come from, None if they are exact; `parts` are what a mixture was made of.

    >>> belief = Belief.discrete([0, 1, 2], [0.2, 0.5, 0.3])
    >>> belief
    Belief(3 values: most probable 1 with 0.5000, mean 1.1, exact)
    >>> belief.probability((1, 2)), belief.quantile(0.5), belief.highest(0.7)
    (0.8, 1, [1, 2])
    """

    kind: Kind
    values: NDArray[Any]
    mass: Floats
    chains: NDArray[np.int64] | None = None
    effective: float | None = None
    parts: tuple[tuple[float, Belief], ...] = ()

    @classmethod
    def discrete(
        cls, values: ArrayLike, probabilities: ArrayLike, *, effective: float | None = None
    ) -> Belief:
        """Probabilities of numbers or labels; `effective` draws behind them if not exact."""
        listed, mass = (
            checked_values(values),
            checked_mass(probabilities, "probability", "probabilities"),
        )
        check_lengths(listed, mass)
        found, times = np.unique(listed, return_counts=True)
        if (times > 1).any():
            raise DataError(
                f"the value {found[np.argmax(times)]!s} is listed twice; list each value once."
            )
        if abs(mass.sum() - 1) > CLOSE:
            raise DataError(
                f"the probabilities sum to {mass.sum():.9g}, not to 1; divide them by their sum."
            )
        if effective is not None and not effective > 0:
            raise DataError(f"effective is {effective!r}; give a number of draws above 0.")
        order = np.argsort(listed, kind="stable") if numeric(listed) else np.arange(len(listed))
        return cls(Kind.DISCRETE, listed[order], mass[order] / mass.sum(), effective=effective)

    @classmethod
    def density(cls, grid: ArrayLike, density: ArrayLike) -> Belief:
        """A density that is linear between the points of an increasing grid."""
        points, heights = checked_values(grid), checked_mass(density, "height", "heights")
        check_lengths(points, heights)
        if not numeric(points) or len(points) < 2 or (np.diff(points) <= 0).any():
            raise DataError("the grid of a density needs two or more increasing numbers.")
        points = points.astype(np.float64)
        area = Gridded(points, heights).integral
        if not abs(area - 1) <= CLOSE_INTEGRAL:
            raise DataError(
                f"the density integrates to {area:.6g} on its grid, not to 1; use a finer or wider "
                "grid, or divide it by its integral."
            )
        return cls(Kind.DENSITY, points, heights / area)

    @classmethod
    def draws(
        cls, values: ArrayLike, weights: ArrayLike | None = None, chains: ArrayLike | None = None
    ) -> Belief:
        """Draws, with weights if they are not all worth the same.

        `chains` says which chain each draw is from, in the order drawn; without it the draws are
        independent. Values of two dimensions are chains x draws.
        """
        listed = np.asarray(values)
        if listed.ndim == 2 and chains is None:
            chains = np.repeat(np.arange(len(listed)), listed.shape[1])
            weights = None if weights is None else np.ravel(weights)
        listed = checked_values(np.ravel(listed))
        mass = (
            np.ones(len(listed)) if weights is None else checked_mass(weights, "weight", "weights")
        )
        check_lengths(listed, mass)
        if not mass.sum() > 0:
            raise DataError("all weights are 0; at least one draw must count.")
        label = None if chains is None else np.asarray(chains, np.int64)
        if label is not None:
            check_lengths(listed, label)
            sizes = np.unique(label, return_counts=True)[1]
            if len(set(sizes.tolist())) > 1:
                raise DataError(
                    f"the chains have {', '.join(map(str, sizes[:5]))} draws; cut them to one "
                    "length."
                )
        return cls(Kind.DRAWS, listed, mass / mass.sum(), chains=label)

    @classmethod
    def mixture(cls, beliefs: Iterable[Belief], weights: ArrayLike) -> Belief:
        """The belief that holds each of `beliefs` with its weight; the weights sum to one."""
        beliefs, shares = tuple(beliefs), checked_mass(weights, "weight", "weights")
        check_lengths(beliefs, shares)
        if abs(shares.sum() - 1) > CLOSE:
            raise DataError(f"the weights of the mixture sum to {shares.sum():.9g}, not to 1.")
        parts = tuple(zip((shares / shares.sum()).tolist(), beliefs, strict=True))
        kinds = {belief.kind for belief in beliefs}
        if kinds == {Kind.DENSITY}:
            ends = [
                (np.nextafter(b.values[0], -np.inf), np.nextafter(b.values[-1], np.inf))
                for b in beliefs
            ]  # just outside, where a density is 0 again
            grid = np.unique(np.concatenate([*(b.values for b in beliefs), *ends]))
            heights = sum(w * np.interp(grid, b.values, b.mass, 0, 0) for w, b in parts)
            return cls(Kind.DENSITY, grid, np.asarray(heights), parts=parts)
        if Kind.DENSITY in kinds:
            raise DataError(
                "a density does not mix with single values; give it as draws: "
                "Belief.draws(belief.sample(n, rng))."
            )
        if len({numeric(belief.values) for belief in beliefs}) > 1:
            raise DataError("numbers and labels do not mix; give all beliefs the same values.")
        values = np.concatenate([belief.values for belief in beliefs])
        mass = np.concatenate([w * belief.mass for w, belief in parts])
        if kinds == {Kind.DISCRETE}:
            values, mass = gathered(values, mass)
        kind = Kind.DISCRETE if kinds == {Kind.DISCRETE} else Kind.DRAWS
        return cls(kind, values, mass, parts=parts)

    @property
    def exact(self) -> bool:
        """Was nothing sampled?"""
        if self.parts:
            return all(belief.exact for _, belief in self.parts)
        return self.kind is not Kind.DRAWS and self.effective is None

    # What is believed

    def probability(self, event: Event) -> float:
        """Of a value, of a closed interval (low, high), of a set of values, or of a predicate.

        A predicate takes an array of values, or one value.
        """
        if self.kind is not Kind.DENSITY:
            return min(1.0, float(self.mass @ inside(self.values, event)))
        if isinstance(event, tuple):
            low, high = event
            return max(0.0, self._grid.below(high) - self._grid.below(low))
        middles = (self.values[1:] + self.values[:-1]) / 2
        shares = np.diff(self.values) * (self.mass[1:] + self.mass[:-1]) / 2
        return float(shares @ inside(middles, event)) if callable(event) else 0.0

    @property
    def mean(self) -> float:
        if self.kind is Kind.DENSITY:
            return self._grid.moment(1)
        return float(self.mass @ self._numbers)

    @property
    def variance(self) -> float:
        if self.kind is Kind.DENSITY:
            return max(0.0, self._grid.moment(2) - self._grid.moment(1) ** 2)
        return float(self.mass @ (self._numbers - self.mean) ** 2)

    def quantile(self, p: float) -> Any:
        """The smallest value with a probability of at least p up to it."""
        check_share(p)
        if self.kind is Kind.DENSITY:
            return float(self._grid.quantile(np.array([p]))[0])
        values, mass = gathered(self._numbers, self.mass)
        place = int(np.searchsorted(np.cumsum(mass), p - 1e-12))
        return plain(values[min(place, len(values) - 1)])

    def highest(self, p: float) -> list[Any]:
        """The smallest set of probability at least p: values, or intervals (low, high).

        Draws that are not whole numbers or labels give the shortest interval.
        """
        check_share(p)
        if self.kind is Kind.DENSITY:
            return self._grid.highest(p)
        values, mass = gathered(self.values, self.mass)
        if not self._repeats:
            return [shortest(values, mass, p)]
        order = np.argsort(-mass, kind="stable")
        needed = int(np.searchsorted(np.cumsum(mass[order]), p - 1e-12)) + 1
        return [plain(values[i]) for i in np.sort(order[:needed])]

    @property
    def mode(self) -> Any:
        """The most probable value; the first of several."""
        if self.kind is Kind.DENSITY:
            return float(self.values[np.argmax(self.mass)])
        values, mass = self._counted("a most probable value")
        return plain(values[np.argmax(mass)])

    @property
    def entropy(self) -> float:
        """In nats; that of a density is the differential entropy."""
        if self.kind is Kind.DENSITY:
            return self._grid.entropy
        mass = self._counted("an entropy")[1]
        return float(-(mass[mass > 0] @ np.log(mass[mass > 0]))) + 0.0

    def sample(self, n: int, rng: np.random.Generator | int) -> NDArray[Any]:
        """`n` independent draws."""
        rng = np.random.default_rng(rng)
        if self.kind is Kind.DENSITY:
            return self._grid.quantile(rng.random(n))
        return np.asarray(rng.choice(self.values, n, p=self.mass / self.mass.sum()))

    def standard_error(self, event: Event = None) -> float:
        """Monte Carlo error of the event's probability, or of the mean; 0 if exact.

        Of an event that no draw, or every draw, belongs to: as if half a draw did otherwise.
        """
        if self.parts:
            return math.hypot(*(w * b.standard_error(event) for w, b in self.parts))
        if self.exact:
            return 0.0
        p = None if event is None else self.probability(event)
        n = self.effective if self.effective is not None else kish(self.mass)
        if p is not None and not 0 < p < 1:
            share = 0.5 / (n + 1)
            return math.sqrt(share * (1 - share) / n)
        if self.effective is not None:
            return math.sqrt((self.variance if p is None else p * (1 - p)) / n)
        terms = self._numbers if event is None else inside(self.values, event)
        return error_of_mean(terms, self.mass, self.chains)

    # How it is shown

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a value with its probability and, if sampled, standard error; or the density."""
        if self.kind is Kind.DENSITY:
            return frame({"value": self.values, "density": self.mass}, kind)
        values, mass = gathered(self.values, self.mass)
        columns: dict[str, Any] = {"value": values, "probability": mass}
        if not self.exact and self._repeats:
            columns["standard_error"] = [self.standard_error(value) for value in values]
        return frame(columns, kind)

    def plot(self, *, true: Any = None, **options: Any) -> Any:
        """Probability bars, or the density; the true value marked if it is given."""
        from discreet.look.beliefcharts import belief_chart, density_chart

        if self.kind is Kind.DENSITY or not self._repeats:
            return density_chart(*self._heights(), true=true, **options)
        values, mass = gathered(self.values, self.mass)
        return belief_chart([plain(v) for v in values], mass.tolist(), true=true, **options)

    def _heights(self) -> tuple[list[float], list[float]]:
        """The density, or a histogram of draws as the outline of its columns."""
        if self.kind is Kind.DENSITY:
            return self.values.tolist(), self.mass.tolist()
        edges = np.histogram_bin_edges(self._numbers, "sturges")
        heights, _ = np.histogram(self._numbers, edges, weights=self.mass, density=True)
        return np.repeat(edges, 2).tolist(), [0.0, *np.repeat(heights, 2).tolist(), 0.0]

    def __repr__(self) -> str:
        if self.kind is Kind.DENSITY:
            return f"Belief(density on {plural(len(self.values), 'point')}: mean {self.mean:.4g})"
        what = plural(len(gathered(self.values, self.mass)[0]), "value")
        said = []
        if self._repeats:
            said.append(f"most probable {self.mode} with {self.probability(self.mode):.4f}")
        if numeric(self.values):
            said.append(f"mean {self.mean:.4g}")
        if self.exact:
            said.append("exact")
        elif self.kind is Kind.DRAWS and not self.parts:
            said.append(plural(len(self.values), "draw"))
        else:
            said.append("sampled" if self.effective is None else f"{number(self.effective)} draws")
        return f"Belief({what}: {', '.join(said)})"

    @cached_property
    def _grid(self) -> Gridded:
        return Gridded(self.values, self.mass)

    @property
    def _numbers(self) -> Floats:
        if not numeric(self.values):
            raise DataError(
                f"the values are labels ({self.values[0]!s}, ...): they have no mean and no order; "
                "ask for probabilities, the mode or the entropy."
            )
        return self.values.astype(np.float64) if self.values.dtype.kind == "f" else self.values

    @cached_property
    def _repeats(self) -> bool:
        """Can a value come twice? Draws of a continuous quantity never do."""
        if self.kind is Kind.DISCRETE or self.values.dtype.kind != "f":
            return True
        return len(np.unique(self.values)) <= len(self.values) / 2 or len(self.values) == 1

    def _counted(self, what: str) -> tuple[NDArray[Any], Floats]:
        if not self._repeats:
            raise DataError(
                f"hardly a value was drawn twice, so that the draws have no estimate of {what}; "
                "round them, or give the belief as a density."
            )
        return gathered(self.values, self.mass)
