"""A density that is linear between the points of a grid: its moments, quantiles, level sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from discreet.arrays import Floats

HALVINGS = 100


@dataclass(frozen=True, eq=False)
class Gridded:
    """Heights `f` at increasing points `x`; whatever is asked of it is exact for that density."""

    x: Floats
    f: Floats

    @cached_property
    def _below(self) -> Floats:
        """The probability below each point."""
        return np.append(0.0, np.cumsum(np.diff(self.x) * (self.f[1:] + self.f[:-1]) / 2))

    @property
    def integral(self) -> float:
        return float(self._below[-1])

    def below(self, point: float) -> float:
        """The probability below a point."""
        if point <= self.x[0]:
            return 0.0
        if point >= self.x[-1]:
            return self.integral
        i = int(np.searchsorted(self.x, point, "right")) - 1
        height = float(np.interp(point, self.x, self.f))
        return float(self._below[i] + (point - self.x[i]) * (self.f[i] + height) / 2)

    def moment(self, power: int) -> float:
        """The first or second moment; Simpson's rule is exact for cubics."""
        a, b = self.x[:-1], self.x[1:]
        middle = ((a + b) / 2) ** power * (self.f[:-1] + self.f[1:]) / 2
        ends = a**power * self.f[:-1] + b**power * self.f[1:]
        return float(((b - a) * (ends + 4 * middle)).sum() / 6)

    def quantile(self, p: Floats) -> Floats:
        """Where the probability below is p: the root of a quadratic in its segment."""
        i = np.clip(np.searchsorted(self._below, p, "right") - 1, 0, len(self.x) - 2)
        h, f = np.diff(self.x)[i], self.f[i]
        left = np.maximum(p - self._below[i], 0) / h
        root = np.sqrt(np.maximum(f**2 + 2 * (self.f[i + 1] - f) * left, 0))
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(left > 0, 2 * left / (f + root), 0.0)
        return np.asarray(self.x[i] + h * np.clip(share, 0, 1))

    @property
    def entropy(self) -> float:
        """-integral of f log f, in nats."""
        a, b = self.f[:-1], self.f[1:]
        flat = np.abs(a - b) <= 1e-6 * np.maximum(a, b)
        with np.errstate(divide="ignore", invalid="ignore"):
            sloped = (_primitive(b) - _primitive(a)) / (b - a)
            level = np.where(a + b > 0, (a + b) / 2 * np.log((a + b) / 2), 0.0)
        return float(-(np.diff(self.x) * np.where(flat, level, sloped)).sum())

    def above(self, level: float) -> list[tuple[float, float]]:
        """The intervals on which the density is at least `level`."""
        found: list[tuple[float, float]] = []
        for (a, f), (b, g) in pairwise(zip(self.x.tolist(), self.f.tolist(), strict=True)):
            if max(f, g) < level:
                continue
            start = a if f >= level else a + (b - a) * (level - f) / (g - f)
            end = b if g >= level else a + (b - a) * (level - f) / (g - f)
            if found and start <= found[-1][1]:
                found[-1] = (found[-1][0], end)
            else:
                found.append((start, end))
        return found

    def highest(self, p: float) -> list[tuple[float, float]]:
        """The smallest set of probability p, as intervals: where the density is high enough."""
        low, high = 0.0, float(self.f.max())
        for _ in range(HALVINGS):
            level = (low + high) / 2
            inside = sum(self.below(b) - self.below(a) for a, b in self.above(level))
            low, high = (level, high) if inside >= p else (low, level)
        return self.above(low)


def _primitive(u: Floats) -> Floats:
    """Of u log u."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(u > 0, u**2 * (np.log(u) / 2 - 0.25), 0.0)
