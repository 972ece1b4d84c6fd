"""Iterative proportional fitting: the table nearest to a start that has given margins.

    m(i)  <-  m(i) n(i_C) / m(i_C),   C each margin in turn, again and again

(Deming & Stephan 1940). From a start of ones it ends at the maximum likelihood fit of the
log-linear model with these margins; from any start it keeps the start's interactions, and a zero
of the start is a zero of the end: a structural zero (Bishop, Fienberg & Holland 1975, section 3.5
and chapter 5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError, InconsistentRelease
from discreet.look.progress import working
from discreet.look.words import plural

Array = NDArray[np.float64]
Axes = tuple[int, ...]

MOST_CELLS = 1 << 24
TOLERANCE = 1e-10
ITERATIONS = 1_000
AGREE = 1e-8  # margins that are less than this share of the total apart are the same


@dataclass(frozen=True, eq=False)
class Scaled:
    """A table that was fitted to margins; `gap` is the largest error left in one of them."""

    array: Array = field(repr=False)
    iterations: int
    gap: float
    converged: bool

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.array.shape)) or "1"
        how = "converged" if self.converged else "not converged"
        times = plural(self.iterations, "iteration")
        return f"Scaled({shape} cells: {how} after {times}, gap {self.gap:.1g})"


def ipf(
    start: object,
    margins: Mapping[Axes, object],
    *,
    tolerance: float = TOLERANCE,
    iterations: int = ITERATIONS,
) -> Scaled:
    """Scale `start` until it has the margins; each is an array over some axes in rising order.

    It has converged when no margin is off by more than `tolerance` times the total. It comes
    close and does not converge where the end has zeros that neither a margin nor the start has.
    The margin over no axes, `()`, is the total.

    >>> ipf(np.ones((2, 3)), {(0,): [30, 70], (1,): [20, 30, 50]}).array
    array([[ 6.,  9., 15.], [14., 21., 35.]])
    >>> ipf([[0, 1], [1, 1]], {(0,): [1, 3], (1,): [1, 3]}).array
    array([[0., 1.], [1., 2.]])
    """
    _check(np.asarray(start), tolerance, iterations)
    fitted = np.array(start, np.float64, order="C")
    steps = [_Step.of(fitted.shape, axes, target) for axes, target in margins.items()]
    if not steps:
        raise DataError("there is no margin to fit; give at least one, such as {(0,): counts}.")
    _check_agreement(steps)
    total = steps[0].target.sum()
    gap, done = np.inf, 0
    with working("fitting"):
        while done < iterations and gap > tolerance * total:
            gap = max(step.apply(fitted, first=not done) for step in steps)
            done += 1
    return Scaled(fitted, done, gap, bool(gap <= tolerance * total))


@dataclass(frozen=True, eq=False)
class _Step:
    """One margin, with neighbouring axes taken together: fewer and longer axes add up faster."""

    axes: Axes
    target: Array
    shape: tuple[int, ...]
    others: Axes

    @classmethod
    def of(cls, shape: tuple[int, ...], axes: Axes, target: object) -> _Step:
        if any(not 0 <= axis < len(shape) for axis in axes) or list(axes) != sorted(set(axes)):
            raise DataError(
                f"the margin {axes} is not a list of axes of a {len(shape)}-way table; number "
                f"them from 0 to {len(shape) - 1}, in rising order."
            )
        counts = np.array(target, np.float64)
        if counts.shape != (sizes := tuple(shape[axis] for axis in axes)):
            raise DataError(
                f"the margin over axes {axes} has shape {counts.shape}, but the table has {sizes} "
                "categories there; give one value a cell."
            )
        if not (np.isfinite(counts).all() and (counts >= 0).all()):
            raise DataError(
                f"the margin over axes {axes} has a value of {_worst(counts)}; give numbers from "
                "0 on."
            )
        runs = [list(run) for _, run in groupby(range(len(shape)), key=set(axes).__contains__)]
        merged = tuple(int(np.prod([shape[axis] for axis in run])) for run in runs)
        others = tuple(place for place, run in enumerate(runs) if run[0] not in axes)
        return cls(axes, counts, merged, others)

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The target's shape, merged alike, with an axis of length 1 for what is summed out."""
        return tuple(1 if i in self.others else n for i, n in enumerate(self.shape))

    def apply(self, fitted: Array, *, first: bool) -> float:
        """Scale in place; how far the margin was off."""
        view, target = fitted.reshape(self.shape), self.target.reshape(self.kept)
        found = view.sum(self.others, keepdims=True)
        if first and ((found == 0) & (target > 0)).any():
            place = np.argwhere((found == 0) & (target > 0)).tolist()[0]
            raise InconsistentRelease(
                f"the margin over axes {self.axes} has {target[tuple(place)]:g} where the start "
                "has only zeros; no table has both. Allow one of these cells in the start."
            )
        gap = float(np.abs(found - target).max(initial=0.0))
        view *= np.divide(target, found, out=np.zeros_like(found), where=found > 0)
        return gap


def _check(start: NDArray[Any], tolerance: float, iterations: int) -> None:
    if start.size > MOST_CELLS:
        raise DataError(
            f"proportional fitting needs every cell, and {start.size:,} are too many; the most is "
            f"{MOST_CELLS:,}. Take a margin, or a decomposable model."
        )
    if not (np.isfinite(start).all() and (start >= 0).all()):
        raise DataError(
            f"a cell of the start is {_worst(start)}; give numbers from 0 on, 0 for a cell that "
            "cannot occur."
        )
    if not tolerance > 0:
        raise DataError(f"tolerance is {tolerance}; give a small number above 0.")
    if iterations < 1:
        raise DataError(f"iterations is {iterations}; give at least 1.")


def _worst(values: NDArray[Any]) -> float:
    return float(values[~(np.isfinite(values) & (values >= 0))][0])


def _check_agreement(steps: list[_Step]) -> None:
    """Any two margins give the same sums where they overlap."""
    for a, b in combinations(steps, 2):
        shared = set(a.axes) & set(b.axes)
        x, y = (
            step.target.sum(tuple(i for i, axis in enumerate(step.axes) if axis not in shared))
            for step in (a, b)
        )
        if (gap := np.abs(x - y).max(initial=0.0)) > AGREE * a.target.sum():
            raise InconsistentRelease(
                f"the margins over axes {a.axes} and {b.axes} differ by {gap:g} in what they share;"
                " no table has both. Give margins of the same table."
            )
