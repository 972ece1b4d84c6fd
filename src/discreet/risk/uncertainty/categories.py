"""Uncertainty about a category: what the best guess at it costs.

Duncan & Lambert 1986, sections 4 to 6.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.intruder.belief.atoms import plain
from discreet.intruder.belief.belief import Belief, Kind
from discreet.intruder.posterior.whole_table import Held, TableBelief
from discreet.look.words import plural
from discreet.risk.uncertainty.base import Best, Uncertainty, check_losses, listed_shares, one_value
from discreet.risk.uncertainty.shares import Shares, everywhere, root, shown


@dataclass(frozen=True)
class Entropy(Uncertainty):
    """-sum p log p, in nats: logarithmic loss; the best estimate is what is believed (BS7, 4.2).

    >>> round(Entropy()(Belief.discrete(["a", "b"], [0.5, 0.5])), 4)
    0.6931
    """

    said: str = field(default="the entropy", init=False)

    def __call__(self, belief: Held) -> float:
        if isinstance(belief, Belief):
            listed_shares(belief, "entropy of categories")  # that of a density is no limit
        return super().__call__(belief)

    def best(self, belief: Held) -> Best:
        return Best(belief, belief.entropy + 0.0, belief.exact)

    def loss(self, estimate: Any, truth: Any) -> float:
        """-log of the probability, or density, that the estimate gives the truth."""
        if isinstance(estimate, Belief) and estimate.kind is Kind.DENSITY:
            chance = float(np.interp(truth, estimate.values, estimate.mass, 0, 0))
        else:
            chance = estimate.probability(truth)
        return -math.log(chance) if chance > 0 else math.inf

    def shares(self, limit: float, categories: Sequence[str]) -> Shares | None:
        if len(categories) != 2:
            return None
        top = root(lambda p: limit - self._most(p, 2), 0.5, 1.0)
        return _none(categories) if top is None else everywhere(categories, 1 - top, top)

    def limit_words(self, limit: float, categories: Sequence[str] = ()) -> str:
        k = len(categories)
        if limit <= 0 or k == 2 or not k:
            return super().limit_words(limit, categories)
        top = root(lambda p: limit - self._most(p, k), 1 / k, 1.0)
        if top is None:
            return f"no table: {plural(k, 'category', 'categories')} have at most {math.log(k):.4g}"
        return (
            f"the entropy of the shares is at least {limit:g} nats: yes if no category has more "
            f"than {shown(math.exp(-limit))}, no if one has more than {shown(top)}"
        )

    @staticmethod
    def _most(p: float, k: int) -> float:
        """The largest entropy of k shares one of which is p."""
        rest = (1 - p) / (k - 1) if k > 1 else 0.0
        return -sum(n * q * math.log(q) for n, q in ((1, p), (k - 1, rest)) if q > 0)


@dataclass(frozen=True)
class Largest(Uncertainty):
    """1 - max p, the probability that the best guess is wrong: 1 unless the estimate is right.

    >>> Largest().limit_words(0.25, ["a", "b", "c"])
    'no category has more than 75%'
    """

    said: str = field(default="one minus the largest probability", init=False)

    def best(self, belief: Held) -> Best:
        values, p = listed_shares(belief, "largest probability")
        first = int(np.argmax(p))
        exact = isinstance(belief, TableBelief) or belief.exact
        return Best(plain(values[first]), max(0.0, 1 - float(p[first])), exact)

    def loss(self, estimate: Any, truth: Any) -> float:
        return float(not np.array_equal(estimate, truth))

    def shares(self, limit: float, categories: Sequence[str]) -> Shares:
        return everywhere(categories, 0.0, 1 - limit)


@dataclass(frozen=True)
class _Guess(Uncertainty):
    """The category whose weighted error is least."""

    def best(self, belief: Held) -> Best:
        held = one_value(belief, self.said)
        names, p = listed_shares(held, "largest probability")
        errors = self._errors(names, p)
        first = int(np.argmin(errors))
        return Best(plain(names[first]), max(0.0, float(errors[first])), held.exact)

    @abstractmethod
    def _errors(self, names: NDArray[Any], p: Floats) -> Floats:
        """What it costs, on average, to name each category."""


@dataclass(frozen=True)
class Weighted(_Guess):
    """min lambda_i (1 - p_i): to name a sensitive category wrongly costs more.

    >>> Weighted({"a": 1, "b": 4}).limit_words(0.4, ["a", "b"])
    'a has at most 60%; b has at most 90%'
    """

    weights: dict[str, float]
    said: str = field(default="the least weighted probability of error", init=False)

    def __post_init__(self) -> None:
        for name, weight in self.weights.items():
            if not (math.isfinite(weight) and weight > 0):
                raise DataError(f"the sensitivity of {name!r} is {weight}; give numbers above 0.")

    def _errors(self, names: NDArray[Any], p: Floats) -> Floats:
        return self._of(names) * (1 - p)

    def _of(self, names: Sequence[Any] | NDArray[Any]) -> Floats:
        if missing := [str(name) for name in names if str(name) not in self.weights]:
            raise DataError(
                f"{missing[0]!r} has no sensitivity; given are {', '.join(self.weights)}."
            )
        return np.array([self.weights[str(name)] for name in names])

    def shares(self, limit: float, categories: Sequence[str]) -> Shares:
        top = 1 - limit / self._of(categories)
        return Shares(tuple(categories), np.zeros(len(top)), top)


@dataclass(frozen=True)
class ByProbability(_Guess):
    """min gamma(p_i) (1 - p_i): a common category is named wrongly at less cost (5.1, first rule).

    gamma must not increase; 1/p if it is not given. Not concave.

    >>> ByProbability().limit_words(0.25, ["a", "b", "c"])
    'no category has more than 80%'
    """

    gamma: Callable[[float], float] = lambda p: math.inf if p == 0 else 1 / p
    concave: bool = field(default=False, init=False)
    said: str = field(default="the least error, weighted by rarity", init=False)

    def _errors(self, names: NDArray[Any], p: Floats) -> Floats:
        order = np.argsort(p)
        weights = np.array([float(self.gamma(float(each))) for each in p[order]])
        check_losses(weights, "gamma", infinite=True)
        if any(b > a * (1 + 1e-9) for a, b in pairwise(weights)):
            raise DataError("gamma increases with the probability; give one that does not.")
        errors = np.empty(len(p))
        errors[order] = [
            w * (1 - q) if q < 1 else 0.0 for w, q in zip(weights, p[order], strict=True)
        ]
        return errors

    def shares(self, limit: float, categories: Sequence[str]) -> Shares:
        least = 1 / len(categories)
        top = root(lambda p: limit - self.gamma(p) * (1 - p), least, 1.0)
        return _none(categories) if top is None else everywhere(categories, 0.0, top)


@dataclass(frozen=True)
class TwoSided(_Guess):
    """min over i of min(a p_i, b (1 - p_i)) (1 - p_i): both what is so and what is not disclose.

        c1 = 1/2 - (1/4 - t/a)^(1/2),  c2 = min(1/2 + (1/4 - t/a)^(1/2), 1 - (t/b)^(1/2))

    Section 5.1, second rule (a = its b, b = 1), and section 6, where p is the posterior. Not
    concave.

    >>> TwoSided(1, 1).limit_words(0.09, ["a", "b", "c"])
    'every category has 10% to 70%'
    """

    a: float = 1.0
    b: float = 1.0
    concave: bool = field(default=False, init=False)
    said: str = field(default="the least two-sided loss", init=False)

    def __post_init__(self) -> None:
        for name, number in (("a", self.a), ("b", self.b)):
            if not (math.isfinite(number) and number > 0):
                raise DataError(f"{name} of the two-sided loss is {number}; give a number above 0.")

    def _errors(self, names: NDArray[Any], p: Floats) -> Floats:
        return np.minimum(self.a * p, self.b * (1 - p)) * (1 - p)

    def shares(self, limit: float, categories: Sequence[str]) -> Shares:
        if limit > self.a / 4 or limit > self.b:
            return _none(categories)
        half = math.sqrt(0.25 - max(0.0, limit) / self.a)
        top = min(0.5 + half, 1 - math.sqrt(max(0.0, limit) / self.b))
        return everywhere(categories, 0.5 - half, top)


def _none(categories: Sequence[str]) -> Shares:
    return everywhere(categories, 1.0, 0.0)
