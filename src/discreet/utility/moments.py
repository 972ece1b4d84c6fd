"""Means, standard deviations, correlations and quantiles of numbers, true and masked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.table.cells import frame as as_frame
from discreet.utility.records import check_columns, numbers, quantiles, weights

if TYPE_CHECKING:
    import pandas as pd


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
KINDS = ("missing", "mean", "deviation", "quantile", "correlation")


@dataclass(frozen=True, eq=False)
class Moments(Result):
    """Moments by kind and column; `scale` is what a difference is divided by.

    That is the true standard deviation for means, deviations and quantiles, and 1 for shares of
    missing values and for correlations.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> true = pd.DataFrame({"age": [31, 47, 50, 64], "sex": ["f", "m", "f", "m"]})
    >>> masked = true.assign(age=[33, 45, 52, 61])
    >>> dc.worth.moments(true, masked, ["age"])
    Moments(1 column: greatest differences mean 0.0213, deviation 0.127)
    """

    kinds: tuple[str, ...]
    names: tuple[str, ...]
    true: Floats
    masked: Floats
    scale: Floats

    @property
    def differences(self) -> Floats:
        """Masked less true, scaled; nan where one of them is not known."""
        moved = self.masked - self.true
        still = np.where(moved == 0, 0.0, np.where(np.isnan(moved), np.nan, np.inf))
        return np.divide(moved, self.scale, out=still, where=self.scale > 0)

    def greatest(self, kind: str) -> tuple[str, float]:
        """Where the difference of a kind is greatest, and how large it is there."""
        if kind not in KINDS:
            raise DataError(f"there is no moment {kind!r}; choose one of {', '.join(KINDS)}.")
        size = np.abs(self.differences)
        at = [p for p, k in enumerate(self.kinds) if k == kind and not np.isnan(size[p])]
        if not at:
            return "", float("nan")
        place = max(at, key=lambda p: size[p])
        return self.names[place], float(size[place])

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a moment."""
        columns = {
            "moment": list(self.kinds),
            "column": list(self.names),
            "true": self.true,
            "masked": self.masked,
            "difference": self.differences,
        }
        return as_frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        found = {kind: self.greatest(kind) for kind in KINDS}
        return {
            kind: {"column": name, "difference": size if np.isfinite(size) else None}
            for kind, (name, size) in found.items()
            if name
        }

    def __repr__(self) -> str:
        number = sum(kind == "mean" for kind in self.kinds)
        said = [f"{kind} {self.greatest(kind)[1]:.3g}" for kind in ("mean", "deviation")]
        if "correlation" in self.kinds:
            said.append(f"correlation {self.greatest('correlation')[1]:.3g}")
        return f"Moments({plural(number, 'column')}: greatest differences {', '.join(said)})"


def moments(
    true: pd.DataFrame, masked: pd.DataFrame, columns: Sequence[str], *, weight: str | None = None
) -> Moments:
    """Moments of columns of numbers in both files, weighted by a column if one is named.

    Each is over the records that have the value, a correlation over those that have both.

    >>> import pandas as pd
    >>> true = pd.DataFrame({"age": [20.0, 40, 60, 80], "wage": [1.0, 3, None, 4]})
    >>> found = moments(true, true.assign(age=[30.0, 40, 60, 70]), ["age", "wage"])
    >>> found
    Moments(2 columns: greatest differences mean 0, deviation 0.293, correlation 0.0375)
    >>> found.greatest("quantile")[0]
    'age at 0.05'
    """
    if not columns or len(set(columns)) < len(columns):
        raise DataError(f"the columns are {list(columns)}; name at least one, and each once.")
    rows = list(_rows(true, columns, weight, "the true file"))
    other = list(_rows(masked, columns, weight, "the masked file"))
    kinds, names, values, scale = zip(*rows, strict=True)
    theirs = np.array([row[2] for row in other])
    return Moments(kinds, names, np.array(values), theirs, np.array(scale))


def _rows(
    frame: pd.DataFrame, columns: Sequence[str], weight: str | None, what: str
) -> Iterator[tuple[str, str, float, float]]:
    """Kind, column, value, scale."""
    check_columns(frame, columns, what)
    w = weights(frame, weight, what)
    found = {name: numbers(frame, name, what) for name in columns}
    for name, x in found.items():
        yield "missing", name, float(w[np.isnan(x)].sum() / w.sum()), 1.0
    for name, x in found.items():
        (mean,), (spread,) = _mean_deviation(w, x)
        yield "mean", name, mean, spread
        yield "deviation", name, spread, spread
        for share, value in zip(QUANTILES, quantiles(x, w, QUANTILES), strict=True):
            yield "quantile", f"{name} at {share:g}", float(value), spread
    for one, two in combinations(columns, 2):
        value = _correlation(w, found[one], found[two])
        yield "correlation", f"{one}, {two}", value, 1.0


def _mean_deviation(w: Floats, *columns: Floats) -> tuple[list[float], list[float]]:
    """Over records that have all of the columns; deviations divide by the sum of weights."""
    known = ~np.isnan(np.column_stack(columns)).any(1) & (w > 0)
    if not known.any():
        return [float("nan")] * len(columns), [float("nan")] * len(columns)
    part = w[known] / w[known].sum()
    means = [float(part @ x[known]) for x in columns]
    pairs = zip(columns, means, strict=True)
    return means, [float(np.sqrt(part @ (x[known] - m) ** 2)) for x, m in pairs]


def _correlation(w: Floats, one: Floats, two: Floats) -> float:
    (a, b), (s, t) = _mean_deviation(w, one, two)
    if not s * t > 0:
        return float("nan")
    known = ~np.isnan(one) & ~np.isnan(two) & (w > 0)
    part = w[known] / w[known].sum()
    return float(part @ ((one[known] - a) * (two[known] - b)) / (s * t))
