"""Rounding each cell by itself: not additive, for comparison, and what its neighbours are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.masks.masked import Masked
from discreet.release.printed import Printed
from discreet.sheets.system import System

NEAR = 1e-9  # a value so near a multiple, in bases, is one


class Steps(NamedTuple):
    """value = base (low + rest): the multiple below in bases, and what is above it, in [0, 1)."""

    base: float
    low: Floats
    rest: Floats

    @classmethod
    def of(cls, values: ArrayLike, base: float) -> Steps:
        given = np.asarray(values, np.float64)
        if not base > 0:
            raise DataError(f"the base of rounding is {base}; it is a number above 0.")
        if given.size and not given.min() >= 0:
            raise DataError(f"a value to round is {given.min():g}; round values of 0 or more.")
        low = np.floor(given / base + NEAR)
        rest = (given - base * low) / base
        return cls(base, low, np.where(rest < NEAR, 0.0, rest))

    @property
    def high(self) -> Floats:
        """The multiple above, in bases; a multiple stays."""
        return np.asarray(self.low + (self.rest > 0))


def conventional(values: ArrayLike, base: float) -> Floats:
    """To the nearest multiple, halves up.

    >>> conventional([1, 2, 3, 7, 8], 5).tolist()
    [0.0, 0.0, 5.0, 5.0, 10.0]
    """
    steps = Steps.of(values, base)
    return np.asarray(base * (steps.low + (steps.rest >= 0.5)))


def random_rounding(values: ArrayLike, base: float, rng: np.random.Generator) -> Floats:
    """Up with probability rest, so that the mean is the value; each cell by itself.

    >>> random_rounding([1, 2, 3, 7], 3, np.random.default_rng(1)).tolist()
    [0.0, 0.0, 3.0, 6.0]
    """
    steps = Steps.of(values, base)
    return np.asarray(base * (steps.low + (rng.random(steps.rest.shape) < steps.rest)))


def chances(values: ArrayLike, base: float, shown: ArrayLike) -> Floats:
    """p(shown | value) of a cell that is rounded without bias: 1 - r/b below and r/b above.

    >>> chances([7, 7, 7, 10], 5, [5, 10, 15, 10]).round(12).tolist()
    [0.6, 0.4, 0.0, 1.0]
    """
    steps = Steps.of(values, base)
    at = np.asarray(shown, np.float64) / base - steps.low
    below, above = np.abs(at) < NEAR, np.abs(at - 1) < NEAR
    return np.where(below, 1 - steps.rest, np.where(above, steps.rest, 0.0))


def is_whole(values: ArrayLike, base: float) -> bool:
    """Do values and base count?"""
    given = np.asarray(values, np.float64)
    return float(base).is_integer() and bool((given == np.round(given)).all())


def printed(
    system: System, shown: ArrayLike, below: float, above: float, *, whole: bool = True
) -> Printed:
    """What a reader knows: between `below` under what is shown and `above` over it, never under 0.

    Rounded to a neighbouring multiple, counts lie in r-b+1..r+b-1; rounded to the nearest with
    halves up, in r-floor(b/2)..r+ceil(b/2)-1.
    """
    seen = np.asarray(shown, np.float64)
    return Printed(system, np.maximum(0.0, seen - below), seen + above, whole)


def masked(
    system: System,
    values: ArrayLike,
    base: float,
    *,
    rng: np.random.Generator | None = None,
) -> Masked:
    """All printed cells rounded by themselves: to the nearest, or at random if `rng` is given."""
    whole = is_whole(values, base)
    if rng is None:
        shown = conventional(values, base)
        reach = (base // 2, -(-base // 2) - 1) if whole else (base / 2, base / 2)
    else:
        shown = random_rounding(values, base, rng)
        reach = (base - 1, base - 1) if whole else (base, base)
    said: Sequence[str] = ("rounded cells need not add up to rounded totals",)
    return Masked(
        system,
        shown,
        "conventional rounding" if rng is None else "random rounding",
        {"base": base},
        printed(system, shown, *reach, whole=whole),
        whole,
        tuple(said),
    )
