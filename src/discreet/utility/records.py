"""Columns of two files that are compared: categories, numbers and weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Ints
from discreet.data.frames import label
from discreet.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


def check_columns(frame: pd.DataFrame, names: Iterable[str], what: str = "the file") -> None:
    """Refuse columns that are not there, and a file without records."""
    if not len(frame):
        raise DataError(f"{what} has no records; it needs at least one.")
    for name in names:
        if name not in frame.columns:
            listed = ", ".join(map(str, frame.columns))
            raise DataError(f"{what} has no column {name!r}; it has {listed:.300}.")
        if list(frame.columns).count(name) > 1:
            raise DataError(f"{what} has two columns {name!r}; rename one.")


def factors(column: pd.Series[Any]) -> tuple[Ints, list[Any]]:
    """The distinct values of a column, and for each record which of them it has; -1 is missing."""
    import pandas as pd

    codes, values = pd.factorize(column, use_na_sentinel=True)
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    return np.asarray(codes, np.int64), plain


def labels(column: pd.Series[Any]) -> tuple[Ints, list[str]]:
    """Categories as codes, and their names in sorted order; missing is the category "".

    >>> import pandas as pd
    >>> labels(pd.Series([2.0, None, 1.0]))
    (array([2, 0, 1]), ['', '1', '2'])
    """
    codes, values = factors(column)
    said = [*map(label, values), ""]
    names = sorted({said[code] for code in np.unique(codes)})
    place = {name: code for code, name in enumerate(names)}
    return np.array([place.get(name, -1) for name in said], np.int64)[codes], names


def numbers(frame: pd.DataFrame, name: str, what: str = "the file") -> Floats:
    """A column of numbers, nan where one is missing."""
    import pandas as pd

    column = frame[name]
    if column.dtype.kind in "iufb":
        found = np.asarray(column.to_numpy(np.float64, na_value=np.nan), np.float64)
    else:
        read = pd.to_numeric(column.astype(object), errors="coerce")
        found = np.array(read, np.float64)
        codes, values = factors(column)
        blank = np.array([not label(value) for value in values] + [True])[codes]
        if (odd := np.isnan(found) & ~blank).any():
            row = int(np.argmax(odd))
            raise DataError(
                f"row {row + 1} of {what} has {column.iloc[row]!r} in {name!r}, where a number is "
                "needed; name the column among the categories, or say what it stands for."
            )
    if np.isinf(found).any():
        raise DataError(f"{name!r} of {what} has an infinite number; make it finite or missing.")
    return found


def weights(frame: pd.DataFrame, name: str | None, what: str = "the file") -> Floats:
    """How many people each record stands for: 1, or the numbers of a column."""
    if name is None:
        return np.ones(len(frame))
    check_columns(frame, [name], what)
    found = numbers(frame, name, what)
    if not (found >= 0).all() or not found.sum() > 0:
        wrong = found[~(found >= 0)]
        shown = f"the weight {wrong[0]:g}" if len(wrong) else "weights that are all 0"
        raise DataError(f"{what} has {shown} in {name!r}; weights are 0 or more, and not all 0.")
    return found


def quantiles(values: ArrayLike, weight: ArrayLike, shares: Sequence[float]) -> Floats:
    """The least value that has at least a share of the weight at or below it; nan are left out.

    >>> quantiles([3, 1, 2, 9], [1, 1, 1, 1], [0.25, 0.5, 0.8])
    array([1., 2., 9.])
    """
    values, weight = np.asarray(values, np.float64), np.asarray(weight, np.float64)
    known = ~np.isnan(values) & (weight > 0)
    if not known.any():
        return np.full(len(shares), np.nan)
    order = np.argsort(values[known], kind="stable")
    ranked, upto = values[known][order], np.cumsum(weight[known][order])
    wanted = np.asarray(shares) * upto[-1] * (1 - 1e-12)
    return np.asarray(ranked[np.searchsorted(upto, wanted)], np.float64)
