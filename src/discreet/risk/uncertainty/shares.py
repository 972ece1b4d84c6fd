"""Limits on the shares of categories: what a release rule asks of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.intruder.belief.belief import Belief
from discreet.look.result import Shown
from discreet.look.words import plural

CLOSE = 1e-12
ALIKE = 1e-9


@dataclass(frozen=True, eq=False)
class Shares(Shown):
    """lower <= share <= upper for each category.

    >>> print(everywhere(["a", "b"], 0.1, 0.8))
    every category has 10% to 80%
    """

    categories: tuple[str, ...]
    lower: Floats
    upper: Floats

    @property
    def possible(self) -> bool:
        """Has any distribution such shares?"""
        some = (self.lower <= self.upper + CLOSE).all() and (self.upper >= -CLOSE).all()
        low, high = np.maximum(self.lower, 0).sum(), np.minimum(self.upper, 1).sum()
        return bool(some and low <= 1 + CLOSE and high >= 1 - CLOSE)

    def hold(self, belief: Belief) -> bool:
        p = np.array([belief.probability(name) for name in self.categories])
        return bool(((p >= self.lower - CLOSE) & (p <= self.upper + CLOSE)).all())

    def to_json(self) -> dict[str, list[float]]:
        ends = zip(self.categories, self.lower.tolist(), self.upper.tolist(), strict=True)
        return {name: [low, high] for name, low, high in ends}

    def __str__(self) -> str:
        if not self.possible:
            many = plural(len(self.categories), "category", "categories")
            return f"no table of {many} has such shares"
        low, high = np.clip(self.lower, 0, 1), np.clip(self.upper, 0, 1)
        if np.ptp(low) < ALIKE and np.ptp(high) < ALIKE:
            return _both(float(low[0]), float(high[0]))
        each = zip(self.categories, low.tolist(), high.tolist(), strict=True)
        return "; ".join(f"{name} has {_span(a, b)}" for name, a, b in each)


def everywhere(categories: Sequence[str], lower: float, upper: float) -> Shares:
    """The same limits for every category."""
    k = len(categories)
    return Shares(tuple(map(str, categories)), np.full(k, lower), np.full(k, upper))


def shown(share: float) -> str:
    """
    >>> shown(0.75), shown(0.0834)
    ('75%', '8.34%')
    """
    return f"{100 * share:.3g}%"


def root(f: Callable[[float], float], low: float, high: float) -> float | None:
    """Where an increasing function changes sign; the end where it is all of one sign, or None."""
    if f(low) > 0:
        return None if f(low) > CLOSE else low
    if f(high) <= 0:
        return high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) <= 0 else (low, middle)
    return (low + high) / 2


def _both(low: float, high: float) -> str:
    if low <= 0:
        return f"no category has more than {shown(high)}" if high < 1 else "every table"
    return f"every category has {_span(low, high)}"


def _span(low: float, high: float) -> str:
    if low <= 0:
        return "anything" if high >= 1 else f"at most {shown(high)}"
    return f"at least {shown(low)}" if high >= 1 else f"{shown(low)} to {shown(high)}"
