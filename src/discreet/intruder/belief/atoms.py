"""Values with their masses: checks, and what can be asked of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.look.words import plural


def inside(values: NDArray[Any], event: Any) -> Floats:
    """1 for the values that belong to the event, else 0."""
    if callable(event):
        return judged(event, values)
    if isinstance(event, tuple):
        if len(event) != 2 or not numeric(values):
            raise DataError(
                f"{event!r} is no interval of these values; give (low, high) of numbers, or a list "
                "of values."
            )
        return np.asarray((values >= event[0]) & (values <= event[1]), np.float64)
    wanted = list(event) if isinstance(event, (list, set, frozenset, np.ndarray)) else [event]
    if not numeric(values):
        wanted = [str(value) for value in wanted]
    elif odd := [value for value in wanted if isinstance(value, str)]:
        raise DataError(f"{odd[0]!r} is a label, but the values are numbers; ask for a number.")
    return np.isin(values, np.array(wanted)).astype(np.float64)


def judged(predicate: Callable[[Any], Any], values: NDArray[Any]) -> Floats:
    """What a predicate says of each value, asked at once or, if it cannot, one by one."""
    try:
        said = np.asarray(predicate(values))
    except (TypeError, ValueError):
        said = np.array([])
    if said.shape != values.shape:
        said = np.array([bool(predicate(plain(value))) for value in values])
    return said.astype(np.float64)


def checked_values(values: ArrayLike) -> NDArray[Any]:
    listed = np.asarray(values)
    if listed.dtype.kind == "b":
        listed = listed.astype(np.int64)
    if listed.ndim != 1 or not len(listed):
        raise DataError(f"a belief needs a list of values, not an array of shape {listed.shape}.")
    if listed.dtype.kind == "f" and not np.isfinite(listed).all():
        wrong = listed[~np.isfinite(listed)][0]
        raise DataError(f"a value is {wrong}; leave out what is not a number.")
    return listed.astype(str) if listed.dtype.kind == "O" else listed


def checked_mass(mass: ArrayLike, one: str, many: str) -> Floats:
    listed = np.asarray(mass, np.float64)
    if listed.ndim != 1 or not len(listed):
        raise DataError(f"a belief needs a list of {many}, not an array of shape {listed.shape}.")
    wrong = listed[~(np.isfinite(listed) & (listed >= 0))]
    if len(wrong):
        raise DataError(f"a {one} is {wrong[0]}; {many} are numbers from 0 on.")
    return listed


def check_lengths(values: Sequence[Any] | NDArray[Any], mass: NDArray[Any]) -> None:
    if len(values) != len(mass):
        raise DataError(
            f"{plural(len(values), 'value')} but {len(mass):,} numbers for them; give one each."
        )


def check_share(p: float) -> None:
    if not 0 <= p <= 1:
        raise DataError(f"{p!r} is no probability; give a number from 0 to 1.")


def numeric(values: NDArray[Any]) -> bool:
    return values.dtype.kind in "iuf"


def plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def gathered(values: NDArray[Any], mass: Floats) -> tuple[NDArray[Any], Floats]:
    """Each value once, numbers sorted, labels as they first came."""
    found, first, place = np.unique(values, return_index=True, return_inverse=True)
    total = np.bincount(place, mass, len(found)).astype(np.float64)
    order = np.arange(len(found)) if numeric(values) else np.argsort(first)
    return found[order], total[order]


def shortest(values: NDArray[Any], mass: Floats, p: float) -> tuple[float, float]:
    """The shortest interval between sorted values with probability at least p."""
    below = np.append(0.0, np.cumsum(mass))
    last = np.searchsorted(below, below[:-1] + p - 1e-12) - 1
    fits = np.flatnonzero(last < len(values))
    last = np.maximum(last, np.arange(len(values)))
    best = fits[np.argmin(values[last[fits]] - values[fits])]
    return float(values[best]), float(values[last[best]])
