"""Microaggregation of one column at a time, with the least loss there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.masks.records.file import Floats, RecordFile
from discreet.masks.records.mask import Mask, MaskedFile
from discreet.masks.records.microaggregation import broken_groups, centres, check_groups, loss
from discreet.masks.records.numeric import (
    left_alone,
    masked_file,
    number_columns,
    said_of,
    shared,
    weights_of,
)

Ints = NDArray[np.int64]


def optimal_groups(values: Floats, k: int) -> Ints:
    """The group of each value, at least k each, with the least sum of squares within groups.

    Such groups are k to 2k - 1 neighbours among the sorted values: a shortest path (Hansen &
    Mukherjee 2003, IEEE TKDE 15:1043).

    >>> optimal_groups(np.array([1.0, 9.0, 2.0, 8.5, 1.5]), 2)
    array([0, 1, 0, 1, 0])
    """
    from discreet._kernels.microaggregation import on_a_line

    if len(values) < k:
        raise DataError(f"{len(values):,} values are too few for groups of {k}; lower k.")
    order = np.argsort(values, kind="stable")
    ends = on_a_line(np.ascontiguousarray(values[order], np.float64), k)
    groups = np.empty(len(values), np.int64)
    groups[order] = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    return groups


@dataclass(frozen=True)
class Univariate(Mask):
    """Each column by itself in groups of at least k neighbours, which get their mean or median.

    The sum of squares within groups is the least possible. The mean is that with the file's
    weights, if it has any, so that weighted means are kept; the groups are formed without them.
    Combinations of several columns may stay unique: only values of one column are shared.

    >>> import pandas as pd
    >>> file = RecordFile(pd.DataFrame({"pay": [20, 41, 39, 22, None]}))
    >>> masked = Univariate("pay", k=2).apply(file, np.random.default_rng(1))
    >>> masked.data["pay"].tolist()
    [21.0, 40.0, 40.0, 21.0, nan]
    """

    columns: str | tuple[str, ...]
    k: int = 3
    release: str = "mean"

    name: ClassVar[str] = "univariate"
    promise: ClassVar[str] = (
        "Every released number of a column occurs at least k times; if means are released, those "
        "of the columns are kept (with the file's weights)."
    )

    def apply(self, file: RecordFile, rng: np.random.Generator) -> MaskedFile:
        check_groups(self.name, self.k, self.release, len(file))
        weights, new, said = weights_of(file), {}, []
        for name, values in number_columns(file, self.columns, self.name).items():
            rows = np.flatnonzero(~np.isnan(values))
            if len(rows) < self.k:
                raise DataError(
                    f"{name!r} has {len(rows):,} numbers, fewer than k = {self.k}; lower k, or "
                    "leave the column out."
                )
            there = values[rows, None]
            groups = optimal_groups(values[rows], self.k)
            new[name] = np.full(len(file), np.nan)
            new[name][rows] = centres(there, groups, weights[rows], self.release)[:, 0]
            lost = loss(there, groups)
            said.append(f"{name}: {lost:.6f}% of the sum of squares is lost within groups.")
        return MaskedFile(
            file.with_columns(**new).data,
            np.arange(len(file)),
            {name: shared(name, values) for name, values in new.items()},
            method=self.name,
            parameters=said_of(self.options),
            said=tuple(said),
        )

    def broken(self, file: RecordFile, masked: MaskedFile) -> list[str]:
        columns = number_columns(file, self.columns, self.name)
        found = left_alone(file, masked, list(columns))
        for name, values in columns.items() if not found else ():
            after = masked_file(masked).numbers(name)
            found += broken_groups(
                [name], values[:, None], after[:, None], weights_of(file), self.k, self.release
            )
        return found
