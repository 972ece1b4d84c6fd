"""Microaggregation: records in small groups of near ones, which share a mean.

Of several columns together, or of one column at a time with the least loss there is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError, OptionError
from discreet.masks.records.file import RecordFile
from discreet.masks.records.mask import MaskedFile
from discreet.masks.records.numeric import (
    CLOSE,
    Columns,
    NumberMask,
    shared,
    weights_of,
)

RELEASED = ("mean", "median")
FEW = ("refuse", "blank")


def groups_of(values: Floats, k: int, *, standardise: bool = True) -> Ints:
    """The group of each record (row) by MDAV: k to 2k - 1 near ones each.

    Columns are divided by their standard deviation, unless `standardise` is off. Domingo-Ferrer &
    Mateo-Sanz 2002; Domingo-Ferrer & Torra 2005, "MDAV-generic"; of equally far or near records
    the lowest row is taken.

    >>> groups_of(np.array([[1.0], [2.0], [9.0], [8.0], [1.5]]), 2)
    array([1, 1, 0, 0, 1])
    """
    from discreet._kernels.microaggregation import mdav

    if len(values) < k:
        raise DataError(f"{len(values):,} records are too few for groups of {k}; lower k.")
    points = standardised(values) if standardise else values
    return np.asarray(mdav(np.ascontiguousarray(points, np.float64), k))


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


def standardised(values: Floats) -> Floats:
    """Columns with mean 0 and standard deviation 1, as far as they vary."""
    there = ~np.isnan(values)
    many = there.sum(0)
    gaps = values - np.where(there, values, 0).sum(0) / many
    deviation = np.sqrt(np.where(there, gaps**2, 0).sum(0) / np.maximum(many - 1, 1))
    return np.asarray(gaps / np.where(deviation > 0, deviation, 1))


def loss(values: Floats, groups: Ints) -> float:
    """100 SSE / SST: the share of the sum of squares that is lost within groups, in percent.

    >>> loss(np.array([[1.0], [2.0], [9.0], [8.0]]), np.array([0, 0, 1, 1]))
    2.0
    """
    whole = ((values - values.mean(0)) ** 2).sum()
    inside = sum(
        np.bincount(groups, (column - _means(column, groups)) ** 2).sum() for column in values.T
    )
    return float(100 * inside / whole) if whole > 0 else 0.0


def _means(column: Floats, groups: Ints) -> Floats:
    return np.asarray((np.bincount(groups, column) / np.bincount(groups))[groups])


@dataclass(frozen=True)
class Microaggregate(NumberMask):
    """Records in groups of at least k near ones (MDAV) get the mean or median of their group.

    Several columns are grouped together. The mean is that with the file's weights, if it has any,
    so that weighted means are kept. Records that lack the same numbers are grouped among
    themselves; where these are fewer than k, `few = "blank"` makes all their numbers missing.
    Households are not kept together.

    >>> import pandas as pd
    >>> file = RecordFile(pd.DataFrame({"age": [31, 47, 50, 33], "pay": [20, 41, 39, 22]}))
    >>> masked = Microaggregate(("age", "pay"), k=2).apply(file, np.random.default_rng(1))
    >>> masked.data["age"].tolist(), masked.data["pay"].tolist()
    ([32.0, 48.5, 48.5, 32.0], [21.0, 40.0, 40.0, 21.0])
    >>> masked.keys["age"].seen
    array(['32', '48.5', '48.5', '32'], dtype=object)
    """

    k: int = 3
    standardise: bool = True
    release: str = "mean"
    few: str = "refuse"

    name: ClassVar[str] = "microaggregate"
    promise: ClassVar[str] = (
        "Every combination of released numbers occurs at least k times; if means are released, "
        "those of the columns are kept (with the file's weights)."
    )

    def apply(self, file: RecordFile, rng: np.random.Generator) -> MaskedFile:
        _check(self, len(file))
        if self.few not in FEW:
            raise OptionError(f"few of {self.name} is {self.few!r}; write one of {', '.join(FEW)}.")
        columns = self.numbers(file)
        values, weights = np.column_stack(list(columns.values())), weights_of(file)
        points = standardised(values) if self.standardise else values
        new, group = np.full_like(values, np.nan), np.full(len(file), -1)
        blanked = 0
        for rows, there in _patterns(values):
            if len(rows) < self.k and there.any():
                self._may_blank(list(columns), there, len(rows))
                blanked += len(rows)
            elif there.any():
                part = np.ix_(rows, there)
                found = groups_of(points[part], self.k, standardise=False)
                new[part] = _centres(values[part], found, weights[rows], self.release)
                group[rows] = found + group.max() + 1
        whole = ~np.isnan(new).any(1)
        lost = loss(points[whole], np.unique(group[whole], return_inverse=True)[1])
        said = [
            f"{group.max() + 1:,} groups of {self.k} to {2 * self.k - 1} records.",
            f"{lost:.6f}% of the sum of squares is lost within groups.",
        ]
        said += [f"{blanked:,} records have become missing."] * (blanked > 0)
        made = dict(zip(columns, new.T, strict=True))
        return self.changed(file, made, {name: shared(name, made[name]) for name in made}, said)

    @property
    def blanks(self) -> bool:
        return self.few == "blank"

    def broken_numbers(self, file: RecordFile, columns: Columns, released: RecordFile) -> list[str]:
        return _broken_groups(self, file, columns, released)

    def _may_blank(self, names: list[str], there: NDArray[np.bool_], many: int) -> None:
        if self.blanks:
            return
        lacking = [name for name, one in zip(names, there, strict=True) if not one]
        what = f"lack {' and '.join(lacking)} alone" if lacking else "have all the columns"
        raise DataError(
            f"{many:,} records {what}, fewer than k = {self.k}; lower k, leave a column out, or "
            'write few = "blank" to make their other numbers missing.'
        )


@dataclass(frozen=True)
class Univariate(NumberMask):
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

    k: int = 3
    release: str = "mean"

    name: ClassVar[str] = "univariate"
    promise: ClassVar[str] = (
        "Every released number of a column occurs at least k times; if means are released, those "
        "of the columns are kept (with the file's weights)."
    )

    def apply(self, file: RecordFile, rng: np.random.Generator) -> MaskedFile:
        _check(self, len(file))
        weights, new, said = weights_of(file), {}, []
        for name, values in self.numbers(file).items():
            rows = np.flatnonzero(~np.isnan(values))
            if len(rows) < self.k:
                raise DataError(
                    f"{name!r} has {len(rows):,} numbers, fewer than k = {self.k}; lower k, or "
                    "leave the column out."
                )
            there = values[rows, None]
            groups = optimal_groups(values[rows], self.k)
            new[name] = np.full(len(file), np.nan)
            new[name][rows] = _centres(there, groups, weights[rows], self.release)[:, 0]
            lost = loss(there, groups)
            said.append(f"{name}: {lost:.6f}% of the sum of squares is lost within groups.")
        return self.changed(file, new, {name: shared(name, new[name]) for name in new}, said)

    def broken_numbers(self, file: RecordFile, columns: Columns, released: RecordFile) -> list[str]:
        each = ({name: values} for name, values in columns.items())
        return [one for column in each for one in _broken_groups(self, file, column, released)]


def _check(mask: Microaggregate | Univariate, many: int) -> None:
    k, release, known = mask.k, mask.release, ", ".join(RELEASED)
    if not isinstance(k, int) or isinstance(k, bool) or not 2 <= k <= many:
        raise OptionError(f"k of {mask.name} is {k!r}; give a whole number from 2 to {many:,}.")
    if release not in RELEASED:
        raise OptionError(f"release of {mask.name} is {release!r}; write one of {known}.")


def _centres(values: Floats, groups: Ints, weights: Floats, release: str) -> Floats:
    """What each record's group releases, column by column; weighted means, or plain medians."""
    if release == "median":
        import pandas as pd

        return np.asarray(pd.DataFrame(values).groupby(groups).transform("median"), np.float64)
    weight = np.bincount(groups, weights)
    weights = np.where(weight[groups] > 0, weights, 1.0)
    weight, found = np.bincount(groups, weights), np.empty_like(values)
    for column, out in zip(values.T, found.T, strict=True):
        middle = column.mean()  # sums of what is near 0 lose less
        out[:] = (middle + np.bincount(groups, weights * (column - middle)) / weight)[groups]
    return found


def _broken_groups(
    mask: Microaggregate | Univariate, file: RecordFile, columns: Columns, released: RecordFile
) -> list[str]:
    """What does not hold of: each combination at least k times, and the mean of its records."""
    found, names, k = [], list(columns), mask.k
    before, weights = np.column_stack(list(columns.values())), weights_of(file)
    after = np.column_stack([released.numbers(name) for name in names])
    kinds = np.where(np.isnan(after), np.inf, after)
    _, group, sizes = np.unique(kinds, axis=0, return_inverse=True, return_counts=True)
    group = group.ravel()
    if sizes[group[~np.isnan(after).all(1)]].min(initial=k) < k:
        found.append(f"a combination of {', '.join(names)} occurs fewer than {k} times")
    order = np.argsort(group, kind="stable")
    first = np.cumsum(sizes) - sizes
    parts = np.add.reduceat(weights[order], first)
    weights = np.where(parts[group] > 0, weights, 1.0)[order]
    parts = np.add.reduceat(weights, first)
    for name, old, new in zip(names, before[order].T, after[order][first].T, strict=True):
        there = ~np.isnan(new)
        low, high = (np.minimum.reduceat(old, first), np.maximum.reduceat(old, first))
        room = CLOSE * (high - low + np.maximum(np.abs(low), np.abs(high)))
        if mask.release == "mean":
            low = high = (
                low + np.add.reduceat(weights * (old - np.repeat(low, sizes)), first) / parts
            )
        if not ((low - room <= new) & (new <= high + room))[there].all():
            found.append(f"{name!r} is not the {mask.release} of its group")
        if ((~np.isnan(new)) & np.isnan(low)).any():
            found.append(f"{name!r} has numbers that were missing")
    return found


def _patterns(values: Floats) -> list[tuple[Ints, NDArray[np.bool_]]]:
    """Rows that have the same columns, and which these are."""
    kinds, place = np.unique(~np.isnan(values), axis=0, return_inverse=True)
    return [(np.flatnonzero(place.ravel() == one), there) for one, there in enumerate(kinds)]
