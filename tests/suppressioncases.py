"""Small suppression problems, and the cheapest pattern by trying them all."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.errors import DataError
from discreet.intruder.sums.protection import Protection
from discreet.masks.suppress.optimal import optimal
from sumcases import counted, crossed

COSTS = {"values": lambda v: v, "cells": np.ones_like, "log": lambda v: np.log1p(v)}


def problem(shape, floor, rng):
    """A system, its values, primary and forced cells, and what is asked for the primary ones."""
    system = crossed(*shape)
    _, values = counted(system, rng, mean=3.0 * (len(shape) - 1))
    inner = system.places[0][(slice(1, None),) * len(shape)].ravel()
    chosen = inner[values[inner] > 0]
    rows = rng.choice(chosen, min(int(rng.integers(1, 3)), len(chosen)), replace=False)
    primary = np.zeros(system.cells, bool)
    primary[rows] = True
    forced = (values < max(floor, 1)) & ~primary
    free = rng.permutation(np.flatnonzero(~forced & ~primary))
    free = free[np.argsort(~np.isin(free, inner), kind="stable")]
    forced[free[11:]] = True  # some totals are free
    if rng.random() < 0.5:
        asked = Protection.widths(rows, values[rows], int(rng.integers(1, 5)))
    else:
        levels = rng.integers(0, 3, 2)
        asked = Protection.of(rows, values[rows], lower=levels[0], upper=levels[1], sliding=1)
    return system, values, primary, forced, asked


def equations(shape):
    """Lines of a sheet with totals: its places, total first."""
    places = np.arange(np.prod(np.array(shape) + 1)).reshape(np.array(shape) + 1)
    for axis in range(len(shape)):
        yield from np.moveaxis(places, axis, -1).reshape(-1, places.shape[axis])


def protects(system, values, hidden, asked, floor):
    """By linear programs of another library."""
    sums = system.sums.toarray()
    shown = ~hidden
    for row, low, high, width in zip(asked.rows, asked.low, asked.high, asked.width, strict=True):
        ends = []
        for sign in (1, -1):
            found = linprog(
                sign * sums[row],
                A_ub=-sums[hidden],
                b_ub=np.full(hidden.sum(), -float(floor)),
                A_eq=sums[shown],
                b_eq=values[shown],
            )
            ends.append(sign * found.fun if found.status == 0 else np.inf)
        if ends[0] > low + 1e-6 or ends[1] < high - 1e-6 or ends[1] - ends[0] < width - 1e-6:
            return False
    return True


def cheapest(shape, system, values, primary, forced, asked, floor, costs):
    """The least cost of a pattern that protects, none if no pattern does.

    A cell alone in a line is known, so patterns with one are not cheapest, and left out.
    """
    free = np.flatnonzero(~forced & ~primary)
    masks = (np.arange(2 ** len(free))[:, None] >> np.arange(len(free)) & 1).astype(bool)
    patterns = np.tile(primary, (len(masks), 1))
    patterns[:, free] = masks
    places = system.places[0].ravel()
    for line in equations(shape):
        patterns = patterns[patterns[:, places[line]].sum(1) != 1]
    sums = patterns @ costs
    order = np.argsort(sums, kind="stable")
    assert all(sums[a] <= sums[b] for a, b in pairwise(order[:100]))
    for number in order:
        if protects(system, values, patterns[number], asked, floor):
            return float(sums[number])
    return None


def compare(shape, floor, name, rng):
    """Whether the case has a pattern at all; asserts that the answer is the cheapest."""
    system, values, primary, forced, asked = problem(shape, floor, rng)
    costs = COSTS[name](values)
    best = cheapest(shape, system, values, primary, forced, asked, floor, costs)
    if best is None:
        with pytest.raises(DataError, match="even if all"):
            optimal(system, values, primary, asked, floor=floor, costs=costs, forced=forced)
        return False
    found = optimal(system, values, primary, asked, floor=floor, costs=costs, forced=forced)
    assert found.cost == pytest.approx(best)
    assert found.gap == 0
    assert found.stopped is None
    assert protects(system, values, found.hidden, asked, floor)
    assert not (found.hidden & forced).any()
    assert (found.hidden >= primary).all()
    return True
