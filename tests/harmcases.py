"""Beliefs about numbers, draws from them and costs by their definitions; nothing of the program's
own integrals."""

import numpy as np

import discreet as dc
from discreet.linkage import Normal, NumberLoss
from discreet.uncertainty import Gamma, LogNormal, Pareto

DRAWS = 10**6
FAMILIES = ("normal", "lognormal", "pareto", "gamma", "discrete", "gridded", "mixture")


def belief(family, rng):
    """A random belief with values around 100, and a function that draws from it."""
    if family == "normal":
        mean, spread = rng.uniform(80, 120), rng.uniform(5, 40)
        return Normal(mean, spread), lambda n: rng.normal(mean, spread, n)
    if family == "lognormal":
        mu, sigma = rng.uniform(4.2, 4.8), rng.uniform(0.1, 0.5)
        return LogNormal(mu, sigma), lambda n: rng.lognormal(mu, sigma, n)
    if family == "pareto":  # a variance of squares needs alpha above 4
        alpha, least = rng.uniform(5, 9), rng.uniform(60, 100)
        return Pareto(alpha, least), lambda n: least * rng.random(n) ** (-1 / alpha)
    if family == "gamma":
        shape, rate = rng.uniform(3, 9), rng.uniform(0.04, 0.08)
        return Gamma(shape, rate), lambda n: rng.gamma(shape, 1 / rate, n)
    if family == "discrete":
        values, mass = np.arange(40, 180, 20) + rng.integers(20, size=7), rng.dirichlet(np.ones(7))
        return dc.Belief.discrete(values, mass), lambda n: rng.choice(values, n, p=mass) * 1.0
    if family == "gridded":
        return _gridded(rng)
    shares = rng.dirichlet([2, 2, 2])
    parts = [belief(name, rng) for name in ("normal", "lognormal", "discrete")]

    def draw(n):
        times = rng.multinomial(n, shares)
        return np.concatenate([part[1](k) for part, k in zip(parts, times, strict=True)])

    return [(w, part) for w, (part, _) in zip(shares, parts, strict=True)], draw


def _gridded(rng):
    """Linear between points."""
    grid = np.sort(rng.uniform(20, 180, 9))
    heights = np.append(rng.random(8), 0.0)
    area = np.diff(grid) * (heights[1:] + heights[:-1]) / 2
    heights, area = heights / area.sum(), area / area.sum()

    def draw(n):
        piece = rng.choice(8, n, p=area)
        low, high = heights[piece], heights[piece + 1]
        u = rng.random(n)
        rising = rng.random(n) * (low + high) > low  # a line is a mixture of two triangles
        share = np.where(rising, np.maximum(u, rng.random(n)), np.minimum(u, rng.random(n)))
        return grid[piece] + (grid[piece + 1] - grid[piece]) * share

    return dc.Belief.density(grid, heights), draw


COSTS = {
    "excess": (NumberLoss("excess"), lambda t, y: np.maximum(0, y - t)),
    "overestimate": (NumberLoss("overestimate"), lambda t, y: np.maximum(0, y - t) ** 2),
    "absolute": (NumberLoss("absolute"), lambda t, y: np.abs(y - t)),
    "squared": (NumberLoss("squared"), lambda t, y: (y - t) ** 2),
    "relative": (NumberLoss("relative"), lambda t, y: (y / t - 1) ** 2),
    "threshold": (NumberLoss("threshold", limit=110, loss=3), lambda t, y: 3.0 * (y > 110)),
    "inside": (
        NumberLoss("inside", low=80, high=110, loss=2),
        lambda t, y: 2.0 * ((y >= 80) & (y <= 110)),
    ),
    "within": (NumberLoss("inside", within=9, loss=2), lambda t, y: 2.0 * (np.abs(y - t) <= 9)),
    "outside": (
        NumberLoss("outside", share=0.1, loss=2),
        lambda t, y: 2.0 * (np.abs(y - t) > 0.1 * np.abs(t)),
    ),
    "written": (
        NumberLoss("written", points=[(-30, 5), (0, 0), (20, 12)]),
        lambda t, y: np.interp(y - t, [-30, 0, 20], [5, 0, 12]),
    ),
    "of value": (
        NumberLoss("written", points=[(50, 5), (100, 0), (120, 12)], of="value"),
        lambda t, y: np.interp(y, [50, 100, 120], [5, 0, 12]),
    ),
    "function": (
        NumberLoss("written", function=lambda t, y: np.log1p(np.abs(y - t))),
        lambda t, y: np.log1p(np.abs(y - t)),
    ),
}
CONVEX = ("excess", "overestimate", "absolute", "squared", "relative")


def away(value, costs):
    """Standard errors between a value and the mean of drawn costs."""
    if np.ptp(costs) == 0:
        return 0.0 if np.isclose(value, costs[0], rtol=1e-12) else np.inf
    return abs(costs.mean() - value) / (costs.std() / len(costs) ** 0.5)
