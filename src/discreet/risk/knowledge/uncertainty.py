"""How little is known when a belief is held: uncertainty functions.

    U(p) = min over acts d of  sum_x L(x, d) p(x)

the risk of the best guess under a loss; concave in p, unless the loss itself depends on p
(Duncan & Lambert 1986, sections 4 and 5).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.intruder.belief.atoms import gathered, numeric, plain
from discreet.intruder.belief.belief import Belief, Kind
from discreet.look.palette import plural
from discreet.risk.knowledge.shares import Shares, everywhere, root, shown

Floats = NDArray[np.float64]
GUESSES = 201  # tried for a value with a density


class Uncertainty(ABC):
    """A function of a belief: the larger, the less is known."""

    concave: bool = True  # else only quasi-concave: U of a mixture is at least the smaller one
    said: str = ""

    @abstractmethod
    def __call__(self, belief: Belief) -> float: ...

    def shares(self, limit: float, categories: Sequence[str]) -> Shares | None:
        """The shares of categories with U >= limit, if that is a limit on each share."""
        return None

    def limit_words(self, limit: float, categories: Sequence[str] = ()) -> str:
        """What U >= limit means for the published shares."""
        bounds = self.shares(limit, categories) if categories else None
        return f"{self.said} is at least {limit:g}" if bounds is None else str(bounds)

    def __str__(self) -> str:
        return self.said


@dataclass(frozen=True)
class Entropy(Uncertainty):
    """-sum p log p, in nats: logarithmic loss.

    >>> round(Entropy()(Belief.discrete(["a", "b"], [0.5, 0.5])), 4)
    0.6931
    """

    said: str = field(default="the entropy", init=False)

    def __call__(self, belief: Belief) -> float:
        p = _shares(belief, "entropy of categories")[1]
        return float(-(p[p > 0] @ np.log(p[p > 0]))) + 0.0

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
        rest = (1 - p) / (k - 1)
        return -sum(n * q * math.log(q) for n, q in ((1, p), (k - 1, rest)) if q > 0)


@dataclass(frozen=True)
class Largest(Uncertainty):
    """1 - max p: the probability that the best guess is wrong.

    >>> Largest().limit_words(0.25, ["a", "b", "c"])
    'no category has more than 75%'
    """

    said: str = field(default="one minus the largest probability", init=False)

    def __call__(self, belief: Belief) -> float:
        return max(0.0, 1 - float(_shares(belief, "largest probability")[1].max()))

    def shares(self, limit: float, categories: Sequence[str]) -> Shares:
        return everywhere(categories, 0.0, 1 - limit)


@dataclass(frozen=True)
class Weighted(Uncertainty):
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

    def __call__(self, belief: Belief) -> float:
        names, p = _shares(belief, "largest probability")
        return float((self._of(names) * (1 - p)).min())

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
class ByProbability(Uncertainty):
    """min gamma(p_i) (1 - p_i): a common category is named wrongly at less cost (5.1, first rule).

    gamma must not increase; 1/p if it is not given. Not concave.

    >>> ByProbability().limit_words(0.25, ["a", "b", "c"])
    'no category has more than 80%'
    """

    gamma: Callable[[float], float] = lambda p: math.inf if p == 0 else 1 / p
    concave: bool = field(default=False, init=False)
    said: str = field(default="the least error, weighted by rarity", init=False)

    def __call__(self, belief: Belief) -> float:
        p = np.sort(_shares(belief, "largest probability")[1])
        weights = [float(self.gamma(float(each))) for each in p]
        _check_losses(weights, "gamma", infinite=True)
        if any(b > a * (1 + 1e-9) for a, b in pairwise(weights)):
            raise DataError("gamma increases with the probability; give one that does not.")
        return max(0.0, weights[-1] * (1 - float(p[-1])))

    def shares(self, limit: float, categories: Sequence[str]) -> Shares:
        least = 1 / len(categories)
        top = root(lambda p: limit - self.gamma(p) * (1 - p), least, 1.0)
        return _none(categories) if top is None else everywhere(categories, 0.0, top)


@dataclass(frozen=True)
class TwoSided(Uncertainty):
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

    def __call__(self, belief: Belief) -> float:
        p = _shares(belief, "shares")[1]
        return max(0.0, float((np.minimum(self.a * p, self.b * (1 - p)) * (1 - p)).min()))

    def shares(self, limit: float, categories: Sequence[str]) -> Shares:
        if limit > self.a / 4 or limit > self.b:
            return _none(categories)
        half = math.sqrt(0.25 - max(0.0, limit) / self.a)
        top = min(0.5 + half, 1 - math.sqrt(max(0.0, limit) / self.b))
        return everywhere(categories, 0.5 - half, top)


@dataclass(frozen=True)
class Variance(Uncertainty):
    """Squared error."""

    said: str = field(default="the variance", init=False)

    def __call__(self, belief: Belief) -> float:
        return belief.variance

    def limit_words(self, limit: float, categories: Sequence[str] = ()) -> str:
        return (
            f"the standard deviation of what is believed is at least {math.sqrt(max(limit, 0)):.4g}"
        )


@dataclass(frozen=True)
class RelativeError(Uncertainty):
    """Squared relative error (d/x - 1)^2: var(1/X) / E(1/X^2) = CV^2 / (1 + CV^2), CV that of 1/X.

    Section 5.4 prints E(1/X)^2 below the line; that is not the risk of the best guess, and does
    not lead to the rule there.
    """

    said: str = field(default="the squared relative error", init=False)

    def __call__(self, belief: Belief) -> float:
        first, second = inverse_moments(belief)
        return max(0.0, 1 - first**2 / second)

    def limit_words(self, limit: float, categories: Sequence[str] = ()) -> str:
        if limit >= 1:
            return "no release: the squared relative error of a best guess is below 1"
        least = math.sqrt(max(limit, 0) / (1 - limit))
        return f"the coefficient of variation of 1/X is at least {least:.6g}"


@dataclass(frozen=True, eq=False)
class Loss(Uncertainty):
    """The least expected loss over acts: any loss of truth and act, as a matrix or a function.

    A matrix has a row for each act and a column for each value; a function takes (truth, act), and
    the acts are the values themselves unless they are given.

    >>> belief = Belief.discrete(["a", "b"], [0.8, 0.2])
    >>> round(Loss([[0, 10], [1, 0]])(belief), 3)
    0.8
    >>> round(Loss(lambda truth, act: float(truth != act))(belief), 3)
    0.2
    """

    loss: Any
    acts: Sequence[Any] | None = None
    said: str = field(default="the least expected loss", init=False)

    def __call__(self, belief: Belief) -> float:
        if not callable(self.loss):
            values, p = _shares(belief, "loss matrix")
            matrix = np.asarray(self.loss, np.float64)
            if matrix.ndim != 2 or matrix.shape[1] != len(values):
                raise DataError(
                    f"the loss matrix has the shape {matrix.shape}; it needs one row an act and "
                    f"{plural(len(values), 'column')}, one a value."
                )
            _check_losses(matrix, "the loss")
            return float((matrix @ p).min())
        values, p, free = _points(belief)
        acts = list(self.acts) if self.acts is not None else [plain(v) for v in free]
        if not acts:
            raise DataError("the loss has no acts to choose from; give at least one.")
        risks = [self._risk(values, p, act) for act in acts]
        best = int(np.argmin(risks))
        if self.acts is not None or belief.kind is not Kind.DENSITY:
            return risks[best]
        from scipy.optimize import minimize_scalar

        near = (acts[max(0, best - 1)], acts[min(len(acts) - 1, best + 1)])
        fine = minimize_scalar(
            lambda act: self._risk(values, p, act), bounds=near, method="bounded"
        )
        return min(risks[best], float(fine.fun))

    def _risk(self, values: NDArray[Any], p: Floats, act: Any) -> float:
        try:
            losses = np.asarray(self.loss(values, act), np.float64)
        except (TypeError, ValueError):
            losses = np.array([])
        if losses.shape != values.shape:
            losses = np.array([float(self.loss(plain(v), act)) for v in values])
        _check_losses(losses, f"the loss of act {act}")
        return float(p @ losses)


def inverse_moments(belief: Belief) -> tuple[float, float]:
    """The means of 1/X and 1/X^2."""
    least = belief.values.min() if numeric(belief.values) else belief.values[0]
    if not numeric(belief.values) or least <= 0:
        raise DataError(
            f"a relative error needs values above 0, and {least} is among them; use another "
            "uncertainty, or a minimum above 0."
        )
    x = belief.values.astype(np.float64)
    if belief.kind is not Kind.DENSITY:
        return float(belief.mass @ (1 / x)), float(belief.mass @ (1 / x**2))
    nodes, weights = np.polynomial.legendre.leggauss(4)
    t, step = (nodes + 1) / 2, np.diff(x)[:, None]
    height = belief.mass[:-1, None] * (1 - t) + belief.mass[1:, None] * t
    at, mass = x[:-1, None] + step * t, height * step * weights / 2
    return float((mass / at).sum()), float((mass / at**2).sum())


def variation(belief: Belief) -> float:
    """The coefficient of variation of 1/X."""
    first, second = inverse_moments(belief)
    return math.sqrt(max(0.0, second / first**2 - 1))


def _shares(belief: Belief, what: str) -> tuple[NDArray[Any], Floats]:
    if belief.kind is Kind.DENSITY:
        raise DataError(f"a density has no {what}; use variance or relative, or group the values.")
    if belief.kind is Kind.DRAWS:
        return gathered(belief.values, belief.mass)
    return belief.values, belief.mass


def _points(belief: Belief) -> tuple[NDArray[Any], Floats, NDArray[Any]]:
    """Values, their probabilities, and guesses; a density by its trapezoids."""
    if belief.kind is not Kind.DENSITY:
        values, p = _shares(belief, "")
        return values, p, values
    x, step = belief.values, np.diff(belief.values)
    p = belief.mass * (np.append(step, 0) + np.append(0, step)) / 2
    guesses = [belief.quantile(u) for u in np.linspace(0, 1, GUESSES)]
    return x, p / p.sum(), np.array(guesses)


def _check_losses(losses: Any, what: str, *, infinite: bool = False) -> None:
    listed = np.asarray(losses, np.float64)
    wrong = ~(listed >= 0) | (np.isinf(listed) & (not infinite))
    if wrong.any():
        place = tuple(int(i) + 1 for i in np.argwhere(wrong)[0])
        at = ", ".join(map(str, place))
        raise DataError(f"{what} is {listed[wrong][0]} at place {at}; losses are numbers from 0.")


def _none(categories: Sequence[str]) -> Shares:
    return everywhere(categories, 1.0, 0.0)
