"""Equivalence classes of the keys: who looks like whom, missing values in the stated way."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.data.checkpoint import as_checkpoint
from discreet.data.classes import check_columns, group_records, weight_sums
from discreet.data.codebook import MISSING, Codebook, Missing
from discreet.data.count import choose_columns
from discreet.data.reading import How, Reading, the_codebook
from discreet.data.source import Source
from discreet.data.totals import check_people
from discreet.errors import DataError
from discreet.look.result import Unpublished
from discreet.table.codings import check_nestings
from discreet.table.keys import grouped
from discreet.table.keys import keys as cell_keys
from discreet.table.load import read
from discreet.table.microdata import Microdata
from discreet.table.read import table_of
from discreet.table.table import Table

TAKES = ("count", "codebook", "table", "records", "crosstab", "totals", "checkpoint", "without")


class MissingKey(StrEnum):
    """What a missing value of a key looks like to an intruder.

    >>> import discreet as dc
    >>> [missing.value for missing in dc.anonymity.MissingKey]
    ['own', 'any']
    """

    OWN = "own"  # a category of its own
    ANY = "any"  # it may be any value: it agrees with all

    @classmethod
    def named(cls, name: str) -> MissingKey:
        if name not in [*cls]:
            raise DataError(f"missing is {name!r}; choose {' or '.join(cls)}.")
        return cls(name)


@dataclass(frozen=True, eq=False)
class KeyClasses(Unpublished):
    """Records by their keys: a class a row of `table`, which counts its records.

    `weights` are sums of survey weights, `first` the row of a class's first record, both None
    where they were not asked for, and rows where records have no order, as in a database.
    `frequency` and `weighted` count all records that agree with a class: its own, and where missing
    values match anything also others.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"Sex": ["f", "m", "f"], "Age": [30, 30, 30]})
    >>> classes = dc.anonymity.key_classes(people, "Sex,Age")
    >>> classes.keys, classes.records, classes.frequency
    (('Sex', 'Age'), 3, array([2, 1]))
    """

    table: Table
    missing: MissingKey = MissingKey.OWN
    weights: Floats | None = None
    first: Ints | None = None
    source: Source | None = None
    codebook: Codebook = field(default_factory=Codebook, repr=False)

    @property
    def keys(self) -> tuple[str, ...]:
        return self.table.names

    @property
    def records(self) -> int:
        return self.table.total

    @cached_property
    def frequency(self) -> Ints:
        return np.rint(self._agreeing(self.table.counts.astype(np.float64))).astype(np.int64)

    @cached_property
    def weighted(self) -> Floats | None:
        return None if self.weights is None else self._agreeing(self.weights)

    @cached_property
    def codes(self) -> Ints:
        """Those of the table, classes x keys; below 0 where a value is missing."""
        gone = [
            v.categories.index(MISSING) if MISSING in v.categories else -1
            for v in self.table.variables
        ]
        codes = self.table.codes.astype(np.int64)
        return np.where(codes == np.array(gone), -1, codes)

    def _agreeing(self, amounts: Floats) -> Floats:
        if self.missing is MissingKey.OWN or not (self.codes < 0).any():
            return amounts
        return agreeing(self.codes, self.codes, amounts)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        alike = {MissingKey.OWN: "", MissingKey.ANY: ", missing values match anything"}
        return (
            f"KeyClasses({self.records:,} records in {len(self):,} classes of "
            f"{', '.join(self.keys)}{alike[self.missing]})"
        )


def agreeing(asked: Ints, codes: Ints, amounts: NDArray[Any]) -> Floats:
    """Sums over all rows of codes that agree with each one asked for wherever neither is missing.

    >>> agreeing(np.array([[1, -1], [0, 1]]), np.array([[1, 0], [1, 1], [-1, 1]]), np.ones(3))
    array([3., 1.])
    """
    sums = np.zeros(len(asked))
    for rows, others, place, at in meetings(asked, codes):
        sums[rows] += np.bincount(place, amounts[others])[at]
    return sums


def meetings(asked: Ints, codes: Ints) -> Iterator[tuple[Ints, Ints, Ints, Ints]]:
    """Rows with values in the same places are one group; two groups meet on what both have.

    Of each pair of groups: rows asked for that agree with some of `codes`, rows of these, the
    meeting place of these, and of those. What is missing is below 0.
    """
    known = _groups(codes)
    for mine, rows, wanted in _groups(asked):
        for other, others, there in known:
            both = [p for p in range(codes.shape[1]) if not (mine | other) >> p & 1]
            joined = np.concatenate([there[both], wanted[both]], axis=1)
            of = grouped(joined)[0] if both else np.zeros(joined.shape[1], np.int64)
            place, at = np.split(of, [len(others)])
            met = np.bincount(place, minlength=int(of.max()) + 1)[at] > 0
            yield rows[met], others, place, at[met]


def _groups(codes: Ints) -> list[tuple[int, Ints, Ints]]:
    """Rows that miss the same places, which are the bits of a number, and their codes by place."""
    missing = (codes < 0) @ (1 << np.arange(codes.shape[1], dtype=np.int64))
    members = ((int(one), np.flatnonzero(missing == one)) for one in np.unique(missing))
    return [(one, rows, np.ascontiguousarray(codes[rows].T)) for one, rows in members]


def key_classes(
    data: object,
    keys: str | Iterable[str],
    *,
    missing: str = MissingKey.OWN,
    weights: str | None = None,
    rows: bool = False,
    **how: Unpack[How],
) -> KeyClasses:
    """Count the records of a file, frame or database by `keys`; only classes leave the engine.

    `weights` names the column of survey weights (the codebook's by default), `rows` asks for row
    numbers. Cells with a `count` column, examples and a `Table` have neither. `count`, `codebook`,
    `table`, `records`, `crosstab`, `totals` and `checkpoint` are those of `load`.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"Sex": ["f", "m", "f"], "Age": [30, 30, None]})
    >>> key_classes(people, "Sex,Age", missing="any").frequency
    array([2, 2, 1])
    """
    rule, names, said = MissingKey.named(missing), key_names(keys), Reading.of(how, takes=TAKES)
    if isinstance(data, Table):
        return _told_apart(KeyClasses(read(data, said).margin(names), rule))
    weights = the_codebook(said.codebook).weights if weights is None else weights
    opened = said.open(data, aside=[] if weights is None else [weights])
    if opened.count is not None:
        if weights is not None:
            raise DataError("weights go with records, not with cells that are counted; leave out.")
        return _told_apart(KeyClasses(table_of(opened, names), rule))
    if weights in opened.source.columns:
        stated, book = (
            dataclasses.replace(one, weights=weights) for one in (opened.stated, opened.book)
        )
        opened = dataclasses.replace(opened, stated=stated, book=book)
    people = Microdata.of(opened)
    source = people.source  # in bands
    book = dataclasses.replace(people.codebook, missing=Missing.CATEGORY)
    check_columns(source, [*names, *([weights] if weights else [])])
    if weights in names:
        raise DataError(f"column {weights!r} is the weight; leave it out of the keys.")
    columns = choose_columns(source, names, book)
    checkpoint, totals = said.checkpoint, said.totals
    if weights is None and not rows:
        plain = Microdata(source, book, totals).table(columns, checkpoint=checkpoint)
        return _told_apart(KeyClasses(plain, rule, source=source, codebook=book))
    found = group_records(source, columns, book, weights, as_checkpoint(checkpoint))
    check_people(found.variables, totals, source.name)
    check_nestings(found.variables, found.codes, found.counts, book)
    return _told_apart(_classes(found, book, rule, source))


def _classes(found: Any, book: Codebook, rule: MissingKey, source: Source) -> KeyClasses:
    """In the order of a table; values that the codebook calls alike join one class."""
    shape = [variable.size for variable in found.variables]
    _, at, place = np.unique(
        cell_keys(found.codes, shape), return_index=True, return_inverse=True
    )  # fmt: skip
    counts = np.bincount(place, found.counts).astype(np.int64)
    first = weights = None
    if found.first is not None:
        first = np.full(len(at), np.iinfo(np.int64).max)
        np.minimum.at(first, place, found.first)
    if found.weights is not None:
        sums = np.zeros((len(at), 3), np.int64)
        np.add.at(sums, place, found.weights)
        weights = weight_sums(sums)
    table = Table(
        found.variables, found.codes[at], counts, sampling_fraction=book.sampling_fraction
    )
    return KeyClasses(table, rule, weights, first, source, book)


def key_names(keys: str | Iterable[str]) -> list[str]:
    names = keys.split(",") if isinstance(keys, str) else list(keys)
    names = [name.strip() for name in names]
    if not all(names) or not names:
        raise DataError("a key has no name; give keys as A,B,C.")
    return names


def _told_apart(classes: KeyClasses) -> KeyClasses:
    if len(classes) == 1 and classes.records > 1:
        raise DataError(
            f"all records are alike in {', '.join(classes.keys)}: constant keys tell nobody "
            "apart; name others."
        )
    return classes


def by_class(table: Table, last: int = 1) -> tuple[Ints, Ints]:
    """The class of each cell, where the last `last` variables are no keys, and where it starts."""
    shape: Sequence[int] = table.shape[:-last]
    key = cell_keys(table.codes[:, :-last], shape)
    new = np.ones(len(key), bool)
    new[1:] = key[1:] != key[:-1]
    return np.cumsum(new) - 1, np.flatnonzero(new)
