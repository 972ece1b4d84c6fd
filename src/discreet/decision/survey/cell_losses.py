"""What publishing a cell may cost, and what not publishing it costs (Zaslavsky & Horton 1998, 3).

A loss is a name with parameters, or a function of (y, Y, n, N), which are arrays.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.population.sample_cell import PopulationCounts
from discreet.look.result import Shown
from discreet.look.words import number, plural

Function = Callable[..., Any]
CLOSE = 1e-6
RISE = 1e-9
LOOKED_AT = 500  # domains at which a function is tried before it is used
POINTS = 65
STEP = 1e-3  # of differences


class CellLossWarning(UserWarning):
    """A loss that is not what a loss of disclosure should be.

    >>> import discreet as dc
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", dc.survey.CellLossWarning)
    ...     found = dc.publish(
    ...         3, 8, 1, alpha=1, beta=10, disclosure=lambda y, Y, n, N: Y / N, ratio=1)
    >>> print(caught[0].message)
    the loss of disclosure (a function) rises with Y: 0.125 at Y = 1, 0.25 at Y = 2 (y = 1, n = 3, N
        = 8); a larger group should hide its members better.
    """


@dataclass(frozen=True, eq=False)
class CellLoss(Shown):
    """A loss L(y, Y, n, N), and its expectation over what is believed of Y.

    >>> loss = disclosure_loss("uniques:10")
    >>> float(loss(1, 8, 3, 8).round(4))
    0.4493
    >>> loss.risk(PopulationCounts.of(n=3, N=8, y=1, alpha=1, beta=10)).round(3)
    array([0.846])
    """

    name: str
    function: Function
    expected: Callable[[PopulationCounts], Floats] | None = None  # where there is a quick way
    bend: Function | None = None  # second derivative in Y, where it is known

    def __call__(self, y: Any, Y: Any, n: Any, N: Any) -> Floats:
        """The loss at given counts, checked: neither negative nor missing."""
        given = np.broadcast_arrays(y, Y, n, N)
        try:
            found = np.asarray(self.function(*given), np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"the loss {self.name} cannot be computed: {error}; it takes arrays y, Y, n, N."
            ) from None
        values = np.broadcast_to(found, np.broadcast_shapes(found.shape, given[0].shape))
        wrong = ~(values >= 0) | np.isinf(values)
        if wrong.any():
            place = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            at = ", ".join(
                f"{name} = {number(float(column[place]))}"
                for name, column in zip(("y", "Y", "n", "N"), given, strict=True)
            )
            what = "missing" if np.isnan(values[place]) else f"{values[place]:.6g}"
            raise DataError(
                f"the loss {self.name} is {what} at {at}; a loss is a number from 0 on."
            )
        return np.asarray(values)

    def risk(self, counts: PopulationCounts) -> Floats:
        """E[L | y] of each domain."""
        if self.expected is not None:
            return np.asarray(self.expected(counts))
        c = counts
        return c.expect(lambda row, Y: self(c.y[row], Y, c.n[row], c.N[row]))

    def curvature(self, y: Any, Y: Any, n: Any, N: Any) -> Floats:
        """The second derivative in Y; of a function, by differences."""
        if self.bend is not None:
            return np.asarray(self.bend(y, Y, n, N), np.float64)
        step = STEP * (1 + np.asarray(Y, np.float64))
        at = np.maximum(Y, step)
        low, middle, high = (self(y, at + k * step, n, N) for k in (-1, 0, 1))
        return np.asarray((low - 2 * middle + high) / step**2)

    def check_falling(self, counts: PopulationCounts) -> None:
        """Warn, with the place, if the loss rises with Y at the same y."""
        step = max(1, len(counts) // LOOKED_AT)
        few = counts.take(slice(None, None, step))
        span = np.unique(np.rint(np.geomspace(1, max(2.0, float(few.rest.max()) + 1), POINTS))) - 1
        Y = few.y[:, None] + np.minimum(span, few.rest[:, None]).astype(np.int64)
        y, n, N = few.y[:, None], few.n[:, None], few.N[:, None]
        values = self(y, Y, n, N)
        rise = np.diff(values, axis=1) > RISE * (1 + values[:, :-1])
        if rise.any():
            row, at = np.unravel_index(int(np.argmax(rise)), rise.shape)
            warnings.warn(
                f"the loss of disclosure {self.name} rises with Y: {values[row, at]:.6g} at "
                f"Y = {number(int(Y[row, at]))}, {values[row, at + 1]:.6g} at "
                f"Y = {number(int(Y[row, at + 1]))} (y = {number(int(y[row, 0]))}, "
                f"n = {number(int(n[row, 0]))}, N = {number(int(N[row, 0]))}); a larger group "
                "should hide its members better.",
                CellLossWarning,
                stacklevel=3,
            )

    def __repr__(self) -> str:
        return f"CellLoss({self.name})"


def disclosure_loss(loss: str | Function | CellLoss) -> CellLoss:
    """What publishing may cost, by name or as a function of (y, Y, n, N):

        uniques:S           y exp(-Y / S), people alone in one of S equal subclasses
        gamma-uniques:S:a   y / (1 + Y / (a S))^(a + 1), subclasses of gamma sizes
        subclasses:FILE     y sum of pi exp(-Y pi), subclasses of the sizes pi in a file
        known-sample:S      exp(-y / S), the intruder knows who is in the sample
        threshold:T         1 if Y < T

    (Zaslavsky & Horton 1998, section 3).

    >>> import discreet as dc
    >>> loss = dc.survey.disclosure_loss("threshold:3")
    >>> loss
    CellLoss(threshold:3)
    >>> loss(1, [1, 2, 3, 4], 3, 8)
    array([1., 1., 0., 0.])
    """
    if isinstance(loss, CellLoss):
        return loss
    if callable(loss):
        return CellLoss(_called(loss), loss)
    kind, _, rest = str(loss).partition(":")
    makers = {
        "uniques": _uniques,
        "gamma-uniques": _gamma_uniques,
        "subclasses": _subclasses,
        "known-sample": _known_sample,
        "threshold": _threshold,
    }
    if kind not in makers:
        raise DataError(
            f"there is no loss of disclosure {loss!r}; choose uniques:S, gamma-uniques:S:A, "
            "subclasses:FILE, known-sample:S or threshold:T."
        )
    return makers[kind](str(loss), rest)


def nonpublication_loss(loss: str | Function | CellLoss) -> CellLoss:
    """What not publishing costs, by name or as a function of (y, Y, n, N).

    Names: records (y), cells (1), population (Y), domain-sample (n), domain (N).

    >>> import discreet as dc
    >>> loss = dc.survey.nonpublication_loss("population")
    >>> counts = dc.survey.PopulationCounts.of(n=3, N=8, y=1, alpha=1, beta=10)
    >>> loss, loss.risk(counts).round(3)
    (CellLoss(population), array([1.714]))
    """
    if isinstance(loss, CellLoss):
        return loss
    if callable(loss):
        return CellLoss(_called(loss), loss)
    known: dict[str, tuple[Function, Callable[[PopulationCounts], Floats]]] = {
        "records": (lambda y, Y, n, N: y, lambda c: np.asarray(c.y, np.float64)),
        "cells": (lambda y, Y, n, N: np.ones(np.shape(y)), lambda c: np.ones(len(c))),
        "population": (lambda y, Y, n, N: Y, lambda c: c.mean),
        "domain-sample": (lambda y, Y, n, N: n, lambda c: np.asarray(c.n, np.float64)),
        "domain": (lambda y, Y, n, N: N, lambda c: np.asarray(c.N, np.float64)),
    }
    if loss not in known:
        raise DataError(f"there is no loss of nonpublication {loss!r}; choose {', '.join(known)}.")
    return CellLoss(str(loss), *known[str(loss)])


def _uniques(name: str, rest: str) -> CellLoss:
    """y exp(-Y / S): sampled people who are alone in one of S equal subclasses (2)."""
    (S,) = _numbers(name, rest, "S")
    return CellLoss(
        name,
        lambda y, Y, n, N: y * np.exp(-Y / S),
        lambda c: c.y * np.exp(-c.y / S) * c.laplace(1 / S),
        lambda y, Y, n, N: y * np.exp(-Y / S) / S**2,
    )


def _gamma_uniques(name: str, rest: str) -> CellLoss:
    """y / (1 + Y / (a S))^(a + 1): subclasses whose sizes have a gamma distribution."""
    S, a = _numbers(name, rest, "S", "A")
    return CellLoss(
        name,
        lambda y, Y, n, N: y * np.exp(-(a + 1) * np.log1p(Y / (a * S))),
        lambda c: c.y * c.power(a * S, a + 1),
        lambda y, Y, n, N: (
            y * (a + 1) * (a + 2) / (a * S) ** 2 * np.exp(-(a + 3) * np.log1p(Y / (a * S)))
        ),
    )


def _subclasses(name: str, rest: str) -> CellLoss:
    """y sum of pi_s exp(-Y pi_s) over subclasses of given sizes pi_s (1)."""
    size, times = np.unique(_sizes(rest), return_counts=True)

    def alone(y: Ints, Y: Ints, n: Ints, N: Ints) -> Floats:
        values, place = np.unique(Y, return_inverse=True)
        chance = np.concatenate(
            [np.exp(-part[:, None] * size) @ (times * size) for part in np.array_split(values, 64)]
        )
        return np.asarray(y * chance[place].reshape(np.shape(Y)))

    def few(c: PopulationCounts) -> Floats:
        terms = (w * p * np.exp(-c.y * p) * c.laplace(p) for p, w in zip(size, times, strict=True))
        return np.asarray(c.y * sum(terms))

    def bend(y: Floats, Y: Floats, n: Floats, N: Floats) -> Floats:
        rows = np.exp(-np.asarray(Y, np.float64).reshape(-1, 1) * size) @ (times * size**3)
        return np.asarray(y * rows.reshape(np.shape(Y)))

    return CellLoss(name, alone, few if len(size) <= 64 else None, bend)


def _known_sample(name: str, rest: str) -> CellLoss:
    """exp(-y / S): the intruder knows who is in the sample."""
    (S,) = _numbers(name, rest, "S")
    flat: Function = lambda y, Y, n, N: np.zeros(np.broadcast(y, Y).shape)  # noqa: E731
    return CellLoss(name, lambda y, Y, n, N: np.exp(-y / S), lambda c: np.exp(-c.y / S), flat)


def _threshold(name: str, rest: str) -> CellLoss:
    """1 if Y < T."""
    (T,) = _numbers(name, rest, "T")
    return CellLoss(
        name,
        lambda y, Y, n, N: np.asarray(Y < T, np.float64),
        lambda c: c.below(np.minimum(math.ceil(T), c.N + 1)),
        lambda y, Y, n, N: np.zeros(np.broadcast(y, Y).shape),  # but at the step
    )


def _numbers(name: str, text: str, *names: str) -> list[float]:
    """The parameters of a loss: positive numbers, as many as it has."""
    kind = name.partition(":")[0]
    parts = text.split(":") if text else []
    if len(parts) != len(names):
        given = plural(len(parts), "parameter")
        raise DataError(f"the loss {name!r} has {given}; write {':'.join((kind, *names))}.")
    found = []
    for part, parameter in zip(parts, names, strict=True):
        try:
            value = float(part)
        except ValueError:
            value = math.nan
        if not 0 < value < math.inf:
            raise DataError(f"{parameter} of the loss {name!r} is {part!r}; give a number above 0.")
        found.append(value)
    return found


def _sizes(path: str) -> Floats:
    """Shares of the subclasses from the last column of a file."""
    from discreet.data.domains import read_rows

    if not path:
        raise DataError("the loss 'subclasses' needs a file with the sizes: subclasses:FILE.")
    source = read_rows(Path(path))
    sizes = source.numbers(source.table.column_names[-1])
    if (sizes <= 0).any():
        row = int(np.argmax(sizes <= 0)) + 1
        raise DataError(f"row {row} of {source.name} has the size {sizes[row - 1]:g}; give shares.")
    if abs(sizes.sum() - 1) > CLOSE:
        raise DataError(
            f"the sizes in {source.name} sum to {sizes.sum():.9g}, not to 1; divide them by their "
            "sum."
        )
    return sizes


def _called(loss: Function) -> str:
    return str(getattr(loss, "__name__", type(loss).__name__)).replace("<lambda>", "(a function)")
