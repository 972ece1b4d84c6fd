"""Levels of a column, from its values as they are up to one for everybody."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.errors import DataError, OptionError
from discreet.intruder.linkage.model import Key, Kind
from discreet.look.result import Shown
from discreet.masks.records.file import Labels, RecordFile

TOP = "*"


@dataclass(frozen=True, eq=False)
class Ladder(Shown):
    """A column's values by record, and what each becomes at every level.

    `maps[level]` takes a code of level 0 to one of that level, which `labels[level]` names; a
    missing value is named "". It stays missing, but for the last level, which is "*" for everybody.
    `cuts[level]` are those of intervals, where a level has some.

    >>> import pandas as pd
    >>> file = RecordFile(pd.DataFrame({"age": [31, 47, None, 18]}))
    >>> Ladder.of(file, "age", [[20, 40], [40]]).labels
    (('18', '31', '47', ''), ('< 20', '[20, 40)', '>= 40', ''), ('< 40', '>= 40', ''), ('*',))
    """

    name: str
    codes: Ints
    labels: tuple[tuple[str, ...], ...]
    maps: tuple[Ints, ...]
    cuts: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, file: RecordFile, name: str, cuts: Sequence[Sequence[float]] = ()) -> Ladder:
        """By the file's hierarchy of the column, or by cuts of numbers, a list for each level."""
        codes, names = file.codes(name)
        gone = codes < 0
        if cuts:
            if name in file.hierarchies:
                raise DataError(f"{name!r} has a hierarchy and cuts; give one of them.")
            known, first = np.unique(codes[~gone], return_index=True)
            numbers = file.numbers(name)[~gone][first]
            assert len(known) == len(names)
            levels = [_intervals(numbers, _checked(one, name)) for one in cuts]
            _nested(cuts, name)
        else:
            levels = _parents(file, name, names)
        tables, maps = [tuple(names)], [np.arange(len(names))]
        for level in levels:
            listed = list(dict.fromkeys(level)) if not cuts else _in_order(level)
            place = {label: code for code, label in enumerate(listed)}
            tables.append(tuple(listed))
            maps.append(np.array([place[label] for label in level], np.int64))
        if gone.any():
            tables = [(*table, "") for table in tables]
            maps = [np.append(m, len(t) - 1) for m, t in zip(maps, tables, strict=True)]
            codes = np.where(gone, len(names), codes)
        if len(tables[0]) > 1:
            tables.append((TOP,))
            maps.append(np.zeros(len(tables[0]), np.int64))
        given = [(), *(tuple(float(c) for c in one) for one in cuts)]
        given += [()] * (len(tables) - len(given))
        return cls(name, codes, tuple(tables), tuple(maps), tuple(given[: len(tables)]))

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def top(self) -> int:
        return len(self) - 1

    def up(self, low: int, high: int) -> Ints:
        """Codes of one level at a higher one."""
        found = np.zeros(len(self.labels[low]), np.int64)
        found[self.maps[low]] = self.maps[high]
        return found

    def at(self, level: int) -> Labels:
        """What each record's value becomes; "" where it is missing."""
        return np.asarray(np.array(self.labels[level], object)[self.maps[level]][self.codes])

    def key(self, level: int) -> Key:
        """What an intruder knows who knows the level."""
        if self.cuts[level]:
            cuts = self.cuts[level]
            return Key(self.name, Kind.INTERVAL, cuts=cuts, labels=interval_labels(cuts))
        if level == self.top and "" in self.labels[0]:
            return Key(self.name, Kind.SHARED, seen=self.at(level))
        above = self.maps[level]
        matrix = {
            label: {self.labels[level][above[code]]: 1.0}
            for code, label in enumerate(self.labels[0])
            if label
        }
        return Key(self.name, Kind.CATEGORY, matrix=matrix)


def interval_labels(cuts: Sequence[float]) -> tuple[str, ...]:
    """Names of the intervals that cuts make, a cut belonging to what is above it.

    >>> interval_labels([20, 40.5])
    ('< 20', '[20, 40.5)', '>= 40.5')
    """
    ends = [f"{cut:.12g}" for cut in cuts]
    between = [f"[{low}, {high})" for low, high in itertools.pairwise(ends)]
    return (f"< {ends[0]}", *between, f">= {ends[-1]}")


def _intervals(numbers: NDArray[np.float64], cuts: Sequence[float]) -> list[str]:
    labels = interval_labels(cuts)
    return [labels[i] for i in np.searchsorted(np.array(cuts, float), numbers, side="right")]


def _in_order(level: list[str]) -> list[str]:
    def place(label: str) -> tuple[float, bool]:
        end = float(label.strip("<>=[) ").split(",")[0])
        return end, not label.startswith("<")

    return sorted(set(level), key=place)


def _checked(cuts: Any, name: str) -> Sequence[float]:
    right = isinstance(cuts, Sequence) and not isinstance(cuts, str) and len(cuts) > 0
    if not right or not all(isinstance(c, int | float) and np.isfinite(c) for c in cuts):
        raise OptionError(f"cuts of {name!r} have {cuts!r}; give a list of numbers for each level.")
    if any(high <= low for low, high in itertools.pairwise(cuts)):
        raise OptionError(f"cuts of {name!r} are {cuts!r}; give them in rising order.")
    return [float(c) for c in cuts]


def _nested(cuts: Sequence[Sequence[float]], name: str) -> None:
    for fine, coarse in itertools.pairwise(cuts):
        if odd := sorted(set(coarse) - set(fine)):
            raise OptionError(
                f"{name!r} is cut at {odd[0]} at a level and not at the one below; cut there too."
            )


def _parents(file: RecordFile, name: str, names: list[str]) -> list[list[str]]:
    """Parents of parents, as long as they join some and leave two apart."""
    parents = dict(file.hierarchies[name].pairs) if name in file.hierarchies else {}
    found: list[list[str]] = []
    current = names
    while True:
        coarser = [parents.get(code, code) for code in current]
        if coarser == current or len(set(coarser)) < 2:
            return found
        found.append(coarser)
        current = coarser
