"""What scientists estimate from a file of records: means, proportions, regressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats
from discreet.data.frames import label
from discreet.errors import DataError
from discreet.look.result import Shown
from discreet.utility.design import is_number
from discreet.utility.logistic import fit_logistic, independent
from discreet.utility.records import labels, numbers, weights

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Estimated:
    """Estimates by name, with their standard errors."""

    names: tuple[str, ...]
    values: Floats
    errors: Floats
    regularised: bool = False

    def for_names(self, names: Sequence[str]) -> Estimated:
        """In the order of these names; nan where there is none."""
        at = {name: place for place, name in enumerate(self.names)}
        both = np.array([
            (self.values[at[n]], self.errors[at[n]]) if n in at else (np.nan, np.nan) for n in names
        ]).reshape(-1, 2)  # fmt: skip
        return Estimated(tuple(names), both[:, 0], both[:, 1], self.regularised)


@dataclass(frozen=True)
class Goal(Shown):
    """What is estimated: `kind` is mean, proportion, linear or logistic."""

    kind: str
    y: str
    x: tuple[str, ...] = ()
    category: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.y, *self.x)

    def __str__(self) -> str:
        shown = f"{self.kind} {self.y}" + (f"={self.category}" if self.category else "")
        return f"{shown} on {', '.join(self.x)}" if self.x else shown

    def estimate(
        self,
        frame: pd.DataFrame,
        weight: str | None = None,
        what: str = "the file",
        *,
        like: pd.DataFrame | None = None,
    ) -> Estimated:
        """The estimates from one file; base categories are those of the file `like`."""
        w = weights(frame, weight, what)
        y = self._response(frame, what)
        design, names = _regressors(frame, self.x, what, frame if like is None else like)
        known = ~np.isnan(y) & ~np.isnan(design).any(1) & (w > 0)
        if known.sum() <= design.shape[1]:
            raise DataError(
                f"{what} has {int(known.sum())} records for {self}, too few; leave this goal out."
            )
        y, design, w = y[known], design[known], w[known]
        w = w / w.mean()
        kept = independent(design, w)
        names = [names[place] for place in kept]
        fitted = _logistic if self.kind == "logistic" else _linear
        values, errors, held = fitted(design[:, kept], y, w, weighted=weight is not None)
        said = [f"{self}: {name}" if self.x else str(self) for name in names]
        return Estimated(tuple(said), values, errors, held)

    def lost(self, true: pd.DataFrame, masked: pd.DataFrame) -> str:
        """Why a masked file gives no estimate that could be compared, or nothing."""
        for name in (*self.x, *(() if self.category else (self.y,))):
            if is_number(true, name) and not is_number(masked, name):
                return f"{self}: {name} is not a number any more"
        for name in self.x:
            if is_number(true, name):
                continue
            if is_number(masked, name):
                return f"{self}: {name} is a number now"
            if (base := _base(true, name)) not in labels(masked[name])[1]:
                return f"{self}: nobody has {name}={base}, which others are compared with"
        return ""

    def _response(self, frame: pd.DataFrame, what: str) -> Floats:
        """The number, or 1 where it is the category and 0 where it is another."""
        if not self.category:
            found = numbers(frame, self.y, what)
            if self.kind == "logistic" and not set(found[~np.isnan(found)]) <= {0.0, 1.0}:
                raise DataError(f"{self.y!r} is not 0 or 1 throughout; name its category.")
            return found
        codes, names = labels(frame[self.y])
        is_it = np.array([np.nan if not n else float(n == self.category) for n in names])
        return is_it[codes]


def mean(y: str) -> Goal:
    """The mean of a column of numbers.

    >>> print(mean("age"))
    mean age
    """
    return Goal("mean", y)


def proportion(y: str, category: object) -> Goal:
    """The share of a category among those whose category is known.

    >>> print(proportion("sex", "f"))
    proportion sex=f
    """
    return Goal("proportion", y, category=label(category))


def linear(y: str, x: Sequence[str]) -> Goal:
    """Least squares of `y` on numbers and categories; the first category is the base.

    >>> print(linear("wage", ["age", "sex"]))
    linear wage on age, sex
    """
    return Goal("linear", y, _listed(x))


def logistic(y: str, x: Sequence[str], category: object = "") -> Goal:
    """Log odds of a category of `y`, or of 1 where `y` is 0 or 1, on numbers and categories.

    >>> print(logistic("ill", ["age"], "yes"))
    logistic ill=yes on age
    """
    return Goal("logistic", y, _listed(x), label(category))


def _listed(x: Sequence[str]) -> tuple[str, ...]:
    if isinstance(x, str) or not x or len(set(x)) < len(x):
        raise DataError(f"the regressors are {x!r}; give a list of names, each once.")
    return tuple(x)


def _base(frame: pd.DataFrame, name: str) -> str:
    """The first category of a column."""
    return next((category for category in labels(frame[name])[1] if category), "")


def _regressors(
    frame: pd.DataFrame, x: Sequence[str], what: str, like: pd.DataFrame
) -> tuple[Floats, list[str]]:
    """Ones, numbers as they are, indicators of all categories but the first."""
    columns, names = [np.ones(len(frame))], ["constant"]
    for name in x:
        if is_number(frame, name):
            columns.append(numbers(frame, name, what))
            names.append(name)
            continue
        codes, known = labels(frame[name])
        missing, base = np.array([not n for n in known])[codes], _base(like, name)
        for place, category in enumerate(known):
            if category not in ("", base):
                columns.append(np.where(missing, np.nan, codes == place))
                names.append(f"{name}={category}")
    return np.column_stack(columns), names


def _linear(x: Floats, y: Floats, w: Floats, *, weighted: bool) -> tuple[Floats, Floats, bool]:
    """b = (X'WX)^-1 X'Wy; its covariance s^2 (X'X)^-1, or the sandwich if weighted."""
    bread = np.linalg.inv(x.T @ (x * w[:, None]))
    b = bread @ (x.T @ (w * y))
    left = y - x @ b
    n, k = x.shape
    if weighted:
        score = x * (w * left)[:, None]
        covariance = bread @ (score.T @ score) @ bread * (n / (n - k))
    else:
        covariance = bread * (left @ left) / (n - k)
    return b, np.sqrt(np.maximum(np.diag(covariance), 0)), False


def _logistic(x: Floats, y: Floats, w: Floats, *, weighted: bool) -> tuple[Floats, Floats, bool]:
    """Maximum likelihood, weighted; covariance the inverse information, or the sandwich."""
    scale = np.concatenate([[1.0], np.abs(x[:, 1:]).max(0)])
    scale = np.where(scale > 0, scale, 1.0)
    fit = fit_logistic(x / scale, w * y, w)
    covariance = fit.covariance
    if weighted:
        score = x / scale * (w * (y - fit.chances))[:, None]
        n, k = x.shape
        covariance = covariance @ (score.T @ score) @ covariance * (n / (n - k))
    return fit.coefficients / scale, np.sqrt(np.diag(covariance)) / scale, fit.regularised
