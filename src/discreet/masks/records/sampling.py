"""Sampling: only some records are released, drawn without replacement."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.arrays import Ints
from discreet.errors import DataError, OptionError
from discreet.masks.records.file import Labels, RecordFile
from discreet.masks.records.mask import Mask, MaskedFile, amount
from discreet.masks.records.numeric import CLOSE, given, weights_of


@dataclass(frozen=True)
class Sample(Mask):
    """A simple random sample of `share` of the records, or of so many `records`.

    Households are drawn whole if the file has them, unless `households` is off; then the share is
    one of households, and `records` is met as nearly as their mean size allows. With `strata`, a
    column, each stratum gets its proportional number, rounded by largest remainders (Hamilton), so
    that the total is exact. Weights are divided by the fraction drawn, that of the stratum. Numbers
    are rounded half up.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [31, 47, 50, 33], "w": [10, 10, 20, 20]})
    >>> file = RecordFile(people, weight="w")
    >>> masked = Sample(share=0.5).apply(file, np.random.default_rng(1))
    >>> masked.data
       age     w
    0   47  20.0
    1   50  40.0
    >>> masked.rows
    array([1, 2])
    """

    share: float | None = None
    records: int | None = None
    households: bool | None = None
    strata: str | None = None

    name: ClassVar[str] = "sample"
    promise: ClassVar[str] = (
        "An exact number is drawn without replacement (of each stratum; of households, whole), "
        "each as it is but for its weight, which is divided by the fraction drawn."
    )

    def apply(self, file: RecordFile, rng: np.random.Generator) -> MaskedFile:
        unit, stratum = self._units(file)
        drawn = self._numbers(file, stratum)
        taken = []
        for one, number in enumerate(drawn):
            of_it = np.flatnonzero(stratum == one)
            taken.append(rng.choice(of_it, number, replace=False))
        rows = np.flatnonzero(np.isin(unit, np.concatenate(taken)))
        rows = rng.permutation(rows)
        data = file.data.iloc[rows].reset_index(drop=True)
        fraction = drawn / np.bincount(stratum)
        if file.weight is not None:
            weights = weights_of(file)[rows] / fraction[stratum[unit[rows]]]
            data = data.assign(**{file.weight: weights})
        what = "households" if self._whole(file) else "records"
        said = [f"{drawn.sum():,} of {len(stratum):,} {what} are drawn: {len(rows):,} records."]
        said += ["Weights are divided by the fraction drawn."] * (file.weight is not None)
        used = given(self.options)
        return MaskedFile(data, rows, method=self.name, parameters=used, said=tuple(said))

    def broken(self, file: RecordFile, masked: MaskedFile) -> list[str]:
        rows = np.asarray(masked.rows)
        if len(set(rows.tolist())) < len(rows):
            return ["a record is drawn twice"]
        found = []
        unit, stratum = self._units(file)
        drawn = np.zeros(len(stratum), bool)
        drawn[unit[rows]] = True
        if drawn[unit].sum() != len(rows):
            found.append("a household is drawn in part")
        if (np.bincount(stratum[drawn], minlength=0) != self._numbers(file, stratum)).any():
            found.append("the numbers drawn are not those asked for")
        others = [name for name in file.data.columns if name != file.weight]
        released = RecordFile(masked.data)
        if any((file.labels(name)[rows] != released.labels(name)).any() for name in others):
            found.append("a record is not as it was")
        if file.weight is not None and not found:
            own = np.bincount(stratum[drawn]) / np.bincount(stratum)
            gaps = released.numbers(file.weight) * own[stratum[unit[rows]]] - weights_of(file)[rows]
            if (np.abs(gaps) > CLOSE * (1 + np.abs(weights_of(file)[rows]))).any():
                found.append("weights are not divided by the fraction drawn")
        return found

    def _whole(self, file: RecordFile) -> bool:
        if self.households and file.household is None:
            raise DataError("the file has no column for households; name one, or leave it off.")
        return file.household is not None and self.households is not False

    def _units(self, file: RecordFile) -> tuple[Ints, Ints]:
        """What is drawn together, of each record; the stratum of each such unit."""
        unit = np.arange(len(file))
        if self._whole(file) and file.household is not None:
            unit = _households(file.labels(file.household))
        if self.strata is None:
            return unit, np.zeros(int(unit.max()) + 1, np.int64)
        codes, _ = file.codes(self.strata)
        codes = codes + 1  # missing: a stratum of its own
        stratum = np.zeros(int(unit.max()) + 1, np.int64)
        stratum[unit] = codes
        if (stratum[unit] != codes).any():
            row = int(np.argmax(stratum[unit] != codes))
            raise DataError(
                f"the household of row {row + 1} lies in two strata of {self.strata!r}; choose a "
                "column that households share, or write households = false."
            )
        return unit, np.unique(stratum, return_inverse=True)[1]

    def _numbers(self, file: RecordFile, stratum: Ints) -> Ints:
        """How many units of each stratum are drawn, by largest remainders."""
        if (self.share is None) == (self.records is None):
            raise OptionError("sample needs either share or records; give one of them.")
        if self.records is not None:
            if not isinstance(self.records, int) or not 1 <= self.records <= len(file):
                raise DataError(
                    f"records of sample is {self.records!r}; give a whole number up to the "
                    f"{len(file):,} of the file."
                )
            share = self.records / len(file)
        else:
            share = amount(self.share, "share of sample", least=0, most=1)
        total = math.floor(share * len(stratum) + 0.5)
        if total < 1:
            raise DataError(f"a share of {share:g} draws nobody of {len(stratum):,}; raise it.")
        asked = np.bincount(stratum) * (total / len(stratum))
        numbers = np.floor(asked + CLOSE).astype(np.int64)
        rest = np.argsort(-(asked - numbers), kind="stable")[: total - numbers.sum()]
        numbers[rest] += 1
        if not numbers.all():
            raise DataError(
                f"a stratum of {self.strata!r} has {np.bincount(stratum)[numbers == 0].max():,} "
                "units, of which none would be drawn; draw more, or merge strata."
            )
        return np.asarray(numbers)


def _households(labels: Labels) -> Ints:
    """Numbers of households from 0 on; a record without one is one by itself."""
    import pandas as pd

    alone = labels == ""
    codes = np.zeros(len(labels), np.int64)
    codes[~alone] = pd.factorize(labels[~alone])[0]
    codes[alone] = codes[~alone].max(initial=-1) + 1 + np.arange(alone.sum())
    return codes
