"""Top and bottom coding: what lies beyond an end becomes one code."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.arrays import Bools, Floats
from discreet.data.frames import label
from discreet.errors import DataError, OptionError
from discreet.intruder.linkage.model import Key, Kind
from discreet.masks.records.file import Labels, RecordFile
from discreet.masks.records.mask import MaskedFile, amount
from discreet.masks.records.numeric import (
    Columns,
    NumberMask,
    as_before,
    by_column,
    mean_moved,
    mean_of,
    weights_of,
)

REPLACED = ("threshold", "mean", "label")


@dataclass(frozen=True)
class Code(NumberMask):
    """Numbers below `low` or above `high` become the end itself, their mean, or a label.

    The ends are numbers, or the shares `bottom` and `top` of records that may lie beyond; one for
    all columns, or a list with one a column. `replace = "mean"` keeps the mean of a column (with
    the file's weights), and is refused where it would show fewer than `least` records.

    >>> import pandas as pd
    >>> file = RecordFile(pd.DataFrame({"age": [3, 31, 47, 88, 93]}))
    >>> masked = Code("age", high=85).apply(file, np.random.default_rng(1))
    >>> masked.data["age"].tolist(), masked.keys["age"].high, masked.keys["age"].labels
    ([3, 31, 47, 85, 85], 85.0, ('', '85'))
    >>> masked = Code("age", low=18, high=85, replace="label").apply(file, np.random.default_rng(1))
    >>> masked.data["age"].tolist()
    ['<18', '31', '47', '>85', '>85']
    """

    low: float | tuple[float, ...] | None = None
    high: float | tuple[float, ...] | None = None
    bottom: float | tuple[float, ...] | None = None
    top: float | tuple[float, ...] | None = None
    replace: str = "threshold"
    labels: tuple[str, str] | None = None
    least: int = 3

    name: ClassVar[str] = "top-code"
    promise: ClassVar[str] = (
        "What lies between the ends is as it was, what lies beyond shares one code; replaced by "
        "its mean, the mean of the column is kept."
    )

    def apply(self, file: RecordFile, rng: np.random.Generator) -> MaskedFile:
        self._check()
        weights, columns = weights_of(file), self.numbers(file)
        new, keys, said = {}, {}, []
        for place, (name, values) in enumerate(columns.items()):
            ends = self._ends(place, len(columns), values)
            beyond = _beyond(values, *ends)
            codes = [self._code(side, name, values, weights, ends, beyond) for side in (0, 1)]
            released = ["" if code is None else label(code) for code in codes]
            labels = (released[0], released[1])
            keys[name] = Key(name, Kind.TOPCODE, low=ends[0], high=ends[1], labels=labels)
            if self.replace == "label":
                new[name] = _labelled(file, name, released, beyond)
            else:
                coded = values.copy()
                for code, rows in zip(codes, beyond, strict=True):
                    if code is not None:
                        coded[rows] = code
                new[name] = as_before(file, name, coded)
            said.append(f"{name}: {sum(int(rows.sum()) for rows in beyond):,} records coded.")
        return self.changed(file, new, keys, said)

    def broken_numbers(self, file: RecordFile, columns: Columns, released: RecordFile) -> list[str]:
        found: list[str] = []
        for place, (name, values) in enumerate(columns.items()):
            below, above = _beyond(values, *self._ends(place, len(columns), values))
            before, after = file.labels(name), released.labels(name)
            if (before != after)[~below & ~above].any():
                found.append(f"{name!r} has changed between the ends")
            if any(len(set(after[rows])) > 1 for rows in (below, above)):
                found.append(f"{name!r} has several codes beyond an end")
            means = not found and self.replace == "mean"
            if means and mean_moved(values, released.numbers(name), weights_of(file)):
                found.append(f"the mean of {name!r} is not kept")
        return found

    def _check(self) -> None:
        if self.replace not in REPLACED:
            raise OptionError(
                f"replace of top-code is {self.replace!r}; write one of {', '.join(REPLACED)}."
            )
        if (self.low is not None and self.bottom is not None) or (
            self.high is not None and self.top is not None
        ):
            raise OptionError(
                "top-code has an end both as a number and as a share; give one of them."
            )
        if all(end is None for end in (self.low, self.high, self.bottom, self.top)):
            raise OptionError("top-code has no end; give low or high, or the shares bottom or top.")
        if self.labels is not None and (
            self.replace != "label"
            or len(self.labels) != 2
            or not all(isinstance(one, str) and one.strip() for one in self.labels)
        ):
            raise OptionError(
                f"labels of top-code are {self.labels!r}; give two texts, for below and above, "
                'with replace = "label".'
            )

    def _ends(self, place: int, many: int, values: Floats) -> tuple[float | None, float | None]:
        """Low and high end of a column."""
        names = [""] * many
        low, high, bottom, top = (
            by_column(getattr(self, end), names, f"{end} of top-code")[place]
            for end in ("low", "high", "bottom", "top")
        )
        if bottom is not None:
            low = -_quantile(-values, amount(bottom, "bottom of top-code", least=0, most=0.5))
        if top is not None:
            high = _quantile(values, amount(top, "top of top-code", least=0, most=0.5))
        low, high = (
            None if end is None else amount(end, f"{what} of top-code")
            for end, what in ((low, "low"), (high, "high"))
        )
        if low is not None and high is not None and low > high:
            raise OptionError(f"the low end {low:g} of top-code is above the high end {high:g}.")
        return low, high

    def _code(
        self,
        side: int,
        name: str,
        values: Floats,
        weights: Floats,
        ends: tuple[float | None, float | None],
        beyond: tuple[Bools, Bools],
    ) -> float | str | None:
        """What stands for all beyond one end; nothing without that end."""
        end, rows = ends[side], beyond[side]
        if end is None:
            return None
        if self.replace == "label":
            return (self.labels or (f"<{label(end)}", f">{label(end)}"))[side]
        if self.replace == "threshold" or not rows.any():
            return end
        if rows.sum() < self.least:
            raise DataError(
                f"{int(rows.sum())} records of {name!r} lie {'above' if side else 'below'} "
                f"{end:g}, and their mean shows them; move the end until there are "
                f'{self.least}, or write replace = "threshold".'
            )
        return mean_of(values[rows], weights[rows])


def _beyond(values: Floats, low: float | None, high: float | None) -> tuple[Bools, Bools]:
    return (
        values < (-np.inf if low is None else low),
        values > (np.inf if high is None else high),
    )


def _quantile(values: Floats, share: float) -> float:
    """The lowest value that at most this share of records exceeds."""
    there = np.sort(values[~np.isnan(values)])
    may = math.floor(share * len(there) + 1e-9)
    return float(there[len(there) - 1 - may])


def _labelled(file: RecordFile, name: str, codes: list[str], beyond: tuple[Bools, Bools]) -> Labels:
    """The column as text, None where it is missing."""
    texts = file.labels(name).copy()
    texts[texts == ""] = None
    for code, rows in zip(codes, beyond, strict=True):
        texts[rows] = code
    return texts
