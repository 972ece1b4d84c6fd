"""What it costs a respondent that a number is taken for another one (Lambert 1993, 6.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.look.result import Shown

AROUND = (("low", "high"), ("within",), ("share",))
TAKES: dict[str, tuple[str, ...]] = {
    "excess": (),
    "overestimate": (),
    "absolute": (),
    "squared": (),
    "relative": (),
    "threshold": ("limit", "loss"),
    "inside": ("loss", "low", "high", "within", "share"),
    "outside": ("loss", "low", "high", "within", "share"),
    "written": ("points", "of", "function"),
}


class Piece(NamedTuple):
    """c0 + c1 u + c2 u^2 for low <= y < high, where u = y - centre."""

    low: Any
    high: Any
    c0: Any = 0.0
    c1: Any = 0.0
    c2: Any = 0.0


@dataclass(frozen=True, eq=False)
class NumberLoss(Shown):
    """c(t, y): what it costs that the number t is taken to be y.

    excess max(0, y - t), overestimate its square, absolute |y - t|, squared (y - t)^2, relative
    (y/t - 1)^2; threshold: `loss` if y is above `limit`; inside, outside: `loss` if y is in, or
    not in, the interval from `low` to `high`, or t +- `within`, or t +- `share` |t|; written: a
    line through `points` (place, cost), of the error y - t or, with of="value", of y, level
    beyond its ends, or any `function` of t and y.

    >>> import discreet as dc
    >>> dc.linkage.NumberLoss("threshold", limit=1000, loss=3).cost(800, [900, 1200]).tolist()
    [0.0, 3.0]
    >>> line = dc.linkage.NumberLoss("written", points=[(-10, 5), (0, 0), (10, 20)])
    >>> line.cost(50, [30, 45, 50, 55]).tolist()
    [5.0, 2.5, 0.0, 10.0]
    """

    name: str
    limit: Any = None
    loss: Any = None
    low: Any = None
    high: Any = None
    within: Any = None
    share: Any = None
    points: Sequence[tuple[float, float]] | None = None
    of: str = "error"
    function: Callable[[Any, Any], Any] | None = None

    def __post_init__(self) -> None:
        if self.name not in TAKES:
            raise DataError(f"there is no cost {self.name!r}; write one of {', '.join(TAKES)}.")
        given = {k for k in (*_ALL, "points", "function") if getattr(self, k) is not None}
        if odd := sorted(given - set(TAKES[self.name])):
            raise DataError(f"the cost {self.name} takes no {odd[0]}; {takes_words(self.name)}.")
        if self.name == "threshold" and (gone := {"limit", "loss"} - given):
            raise DataError(f"the cost threshold has no {min(gone)}; give limit and loss.")
        if self.name in ("inside", "outside"):
            if "loss" not in given or given - {"loss"} not in map(set, AROUND):
                raise DataError(
                    f"the cost {self.name} needs loss and an interval: low and high, or within, "
                    "or share."
                )
            self._check_interval()
        if self.name == "written":
            self._check_written()

    def _check_interval(self) -> None:
        if self.low is not None and (np.asarray(self.low) > np.asarray(self.high)).any():
            raise DataError(f"the interval from {self.low} to {self.high} is empty; swap its ends.")
        if self.within is not None and not (np.asarray(self.within) > 0).all():
            raise DataError(f"within is {self.within}; give a distance above 0.")
        share = np.asarray(0.5 if self.share is None else self.share)
        if not ((share > 0) & (share < 1)).all():
            raise DataError(f"share is {self.share}; give a number above 0 and below 1.")

    def _check_written(self) -> None:
        if (self.points is None) == (self.function is None):
            raise DataError("a written cost needs either points or a function.")
        if self.of not in ("error", "value"):
            raise DataError(f"of is {self.of!r}; write error or value.")
        if self.points is None:
            return
        listed = [tuple(point) for point in self.points]
        if len(listed) < 2 or any(len(point) != 2 for point in listed):
            raise DataError("points need two or more pairs: a place and what it costs.")
        places, costs = np.array(listed, np.float64).T
        if not np.isfinite(places).all() or (np.diff(places) < 0).any():
            raise DataError("the places of points must be numbers that rise.")
        if not (np.isfinite(costs).all() and (costs >= 0).all()):
            raise DataError(f"a cost in points is {costs.min():g}; costs are numbers from 0.")

    @property
    def closed(self) -> bool:
        """Made of lines and parabolas?"""
        return self.function is None

    def check_truth(self, truth: Floats) -> None:
        if self.name == "relative" and (truth == 0).any():
            row = int(np.argmax(truth == 0)) + 1
            raise DataError(
                f"a relative error of 0 is infinite, and row {row} is 0; use another cost."
            )

    def cost(self, truth: ArrayLike, value: ArrayLike) -> Floats:
        """c(truth, value), element by element."""
        t, y = np.asarray(truth, np.float64), np.asarray(value, np.float64)
        self.check_truth(np.atleast_1d(t))
        if self.function is not None:
            return _called(self.function, *np.broadcast_arrays(t, y))
        found, u = np.zeros(np.broadcast_shapes(t.shape, y.shape)), y - t
        for low, high, c0, c1, c2 in self.pieces(t):
            found = found + np.where((low <= y) & (y < high), c0 + u * (c1 + u * c2), 0.0)
        return found

    def pieces(self, t: Floats) -> list[Piece]:
        """As a function of what is believed, about the truth t."""
        name, top = self.name, math.inf
        if name in ("excess", "overestimate"):
            return [Piece(t, top, c1=1.0) if name == "excess" else Piece(t, top, c2=1.0)]
        if name == "threshold":
            return [Piece(_past(self.limit), top, self.loss)]
        if name == "absolute":
            return [Piece(-top, t, c1=-1.0), Piece(t, top, c1=1.0)]
        if name in ("squared", "relative"):
            return [Piece(-top, top, c2=1.0 if name == "squared" else 1 / t**2)]
        if name == "written":
            return _line(self._points(), t if self.of == "error" else 0.0 * t, t)
        if self.low is not None:
            return self._sides(self.low, self.high)
        far = self.within if self.within is not None else self.share * np.abs(t)
        return self._sides(t - far, t + far)

    def pieces_of_truth(self, d: Floats) -> list[Piece]:
        """As a function of the truth, about the estimate d that is acted on."""
        name, top = self.name, math.inf
        if name in ("excess", "overestimate"):
            return [Piece(-top, d, c1=-1.0) if name == "excess" else Piece(-top, d, c2=1.0)]
        if name in ("absolute", "squared"):
            return self.pieces(d)
        if name == "written" and self.of == "error":
            return _line([(-place, cost) for place, cost in reversed(self._points())], d, d)
        if self.within is not None:
            return self._sides(d - self.within, d + self.within)
        if self.share is not None:
            ends = np.sort(np.stack([d / (1 + self.share), d / (1 - self.share)]), axis=0)
            return self._sides(*ends)
        return [Piece(-top, top, self.cost(np.ones_like(d), d))]  # of what is believed alone

    def _sides(self, low: Any, high: Any) -> list[Piece]:
        if self.name == "inside":
            return [Piece(low, _past(high), self.loss)]
        return [Piece(-math.inf, low, self.loss), Piece(_past(high), math.inf, self.loss)]

    def _points(self) -> list[tuple[float, float]]:
        return [(float(place), float(cost)) for place, cost in self.points or ()]


_ALL = ("limit", "loss", "low", "high", "within", "share")


def takes_words(name: str) -> str:
    """What a cost may be given."""
    names = [word for word in TAKES[name] if word != "function"]
    return f"it takes {', '.join(names)}" if names else "it takes nothing else"


def _past(end: Any) -> Any:
    """The next number: closed intervals hold their end."""
    return np.nextafter(np.asarray(end, np.float64), math.inf)


def _line(points: Sequence[tuple[float, float]], shift: Any, centre: Any) -> list[Piece]:
    """Through points that are moved by `shift`, level beyond them, about a centre."""
    (first, start), (last, end) = points[0], points[-1]
    found = [Piece(-math.inf, first + shift, start), Piece(last + shift, math.inf, end)]
    for (a, f), (b, g) in pairwise(points):
        if a < b:
            slope = (g - f) / (b - a)
            found.append(Piece(a + shift, b + shift, f + slope * (centre - a - shift), slope))
    return found


def _called(function: Callable[[Any, Any], Any], truth: Floats, value: Floats) -> Floats:
    """A function of all values at once or, if it cannot, of one by one."""
    try:
        found = np.asarray(function(truth, value), np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != truth.shape:
        pairs = zip(truth.ravel().tolist(), value.ravel().tolist(), strict=True)
        found = np.array([float(function(t, y)) for t, y in pairs]).reshape(truth.shape)
    if not (found >= 0).all():
        raise DataError(f"a written cost is {found[~(found >= 0)][0]:g}; costs are numbers from 0.")
    return found
