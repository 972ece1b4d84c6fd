"""What masks of numbers share: the columns they take, and what none of them may touch."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.data.frames import label
from discreet.errors import DataError, OptionError
from discreet.intruder.linkage.model import Key, Kind
from discreet.masks.records.file import RecordFile
from discreet.masks.records.mask import Mask, MaskedFile, listed

Columns = dict[str, Floats]
CLOSE = 1e-9  # how well a promise of equal sums is kept, in standard deviations


@dataclass(frozen=True)
class NumberMask(Mask):
    """A mask of columns of numbers: all else, and who has no number, stays as it is."""

    columns: str | tuple[str, ...]

    def numbers(self, file: RecordFile) -> Columns:
        """The columns to change; households and weights are not among them."""
        names = listed(self.columns, f"columns of {self.name}")
        if len(set(names)) < len(names):
            raise OptionError(f"columns of {self.name} names {names!r}; name each once.")
        found = {}
        for name in names:
            if name in (file.household, file.weight):
                role = "weight" if name == file.weight else "household"
                raise DataError(
                    f"{self.name} cannot change {name!r}, the {role}; name other columns."
                )
            found[name] = values = file.numbers(name)
            if np.isinf(values).any():
                raise DataError(f"{name!r} has an infinite number; repair it.")
            if np.isnan(values).all():
                raise DataError(f"{name!r} has no number at all; leave it out of {self.name}.")
        return found

    @property
    def blanks(self) -> bool:
        """Whether numbers may become missing."""
        return False

    @property
    def parameters(self) -> dict[str, Any]:
        return given(self.options)

    def broken(self, file: RecordFile, masked: MaskedFile) -> list[str]:
        columns = self.numbers(file)
        found = _left_alone(file, masked, list(columns), blanks=self.blanks)
        return found or self.broken_numbers(file, columns, RecordFile(masked.data))

    @abstractmethod
    def broken_numbers(self, file: RecordFile, columns: Columns, released: RecordFile) -> list[str]:
        """What of the promise does not hold for the columns, where all else is as it was."""


def by_column(given: object, names: Sequence[str], what: str) -> tuple[Any, ...]:
    """An option that is one value for all columns, or a list with one for each."""
    if not isinstance(given, tuple | list):
        return (given,) * len(names)
    if len(given) != len(names):
        raise OptionError(
            f"{what} has {len(given)} values for {len(names)} columns; give one, or one a column."
        )
    return tuple(given)


def weights_of(file: RecordFile) -> Floats:
    """How many people each record stands for; 1 in a file without weights."""
    if file.weight is None:
        return np.ones(len(file))
    weights = file.numbers(file.weight)
    if not (np.isfinite(weights) & (weights >= 0)).all():
        row = int(np.argmin(np.isfinite(weights) & (weights >= 0)))
        raise DataError(
            f"row {row + 1} has the weight {weights[row]:g}; weights are numbers from 0 on."
        )
    return weights


def mean_of(values: Floats, weights: Floats) -> float:
    """Weighted, and plain where all weights are 0."""
    total = weights.sum()
    return float(values @ weights / total if total > 0 else values.mean())


def as_before(file: RecordFile, name: str, values: Floats) -> Any:
    """New numbers of a column, whole ones as whole numbers if the file has them so."""
    kind = file.data[name].dtype
    whole = getattr(kind, "kind", "") in "iu" and not np.isnan(values).any()
    return values.astype(kind) if whole and (values == np.rint(values)).all() else values


def shared(name: str, values: Floats) -> Key:
    """The key of a column in which groups share a value that whoever repeats the mask knows."""
    kinds, places = np.unique(values, return_inverse=True)
    names = np.array([label(float(one)) for one in kinds], object)
    return Key(name, Kind.SHARED, seen=names[places])


def _left_alone(
    file: RecordFile, masked: MaskedFile, names: Sequence[str], *, blanks: bool
) -> list[str]:
    """What else has changed though only `names` may; and who is missing there, unless `blanks`."""
    broken = []
    if list(masked.data.columns) != list(file.data.columns):
        return ["the columns are not those of the file"]
    if len(masked) != len(file) or (masked.rows != np.arange(len(file))).any():
        return ["the records are not those of the file, in its order"]
    released = RecordFile(masked.data)
    for name in file.data.columns:
        before, after = file.data[name], masked.data[name]
        if name not in names:
            same = (before.to_numpy() == after.to_numpy()) | (
                before.isna().to_numpy() & after.isna().to_numpy()
            )
            if not np.all(same):
                broken.append(f"{name!r} has changed")
        elif not blanks and ((file.labels(name) == "") != (released.labels(name) == "")).any():
            broken.append(f"{name!r} is missing for others than before")
    return broken


def mean_moved(before: Floats, after: Floats, weights: Floats) -> bool:
    """Whether the mean of a column is another one, measured in standard deviations."""
    there = ~np.isnan(before)
    scale = before[there].std() + np.abs(before[there]).max() * 1e-3
    gap = mean_of(after[there], weights[there]) - mean_of(before[there], weights[there])
    return bool(abs(gap) > CLOSE * (scale or 1.0))


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options without those that were not given."""
    return {name: value for name, value in options.items() if value is not None and value != ()}
