"""The first rows of a source, for a look before anything is counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.encode import alike
from discreet.data.source import Source, engine_errors
from discreet.errors import DataError

LOOK = 10_000  # rows; two that are alike among them are people


@dataclass(frozen=True)
class Head:
    """The first rows of a source; `every` if it has no more."""

    source: Source
    rows: Any
    every: bool
    coded: dict[str, tuple[NDArray[np.integer[Any]], int]] = field(default_factory=dict)

    def codes(self, name: str) -> tuple[NDArray[np.integer[Any]], int]:
        """A column as codes, and how many there are."""
        if name not in self.coded:
            column = self.rows[name].combine_chunks().dictionary_encode(null_encoding="encode")
            self.coded[name] = column.indices.to_numpy(), len(column.dictionary)
        return self.coded[name]

    def differ(self, names: Iterable[str]) -> bool:
        """Are no two rows alike in all these columns?"""
        number = self.rows.num_rows
        distinct = np.unique(alike((self.codes(name)[0] for name in names), number))
        return bool(len(distinct) == number)


def head_of(source: Source, names: Sequence[str]) -> Head:
    """The first rows, of columns that can be read and hold plain values."""
    import pyarrow as pa

    try:
        rows = _first(source, names)
    except DataError:  # of a column that may not be asked for: it is left to the count
        rows = _first(source, [name for name in names if _readable(source, name)])
    flat = [f.name for f in rows.schema if not pa.types.is_nested(f.type)]
    return Head(source, rows.select(flat).slice(0, LOOK), rows.num_rows <= LOOK)


def _first(source: Source, names: Sequence[str]) -> Any:
    import pyarrow as pa

    if not names:
        return pa.table({})
    with engine_errors(source.name):
        return source.records.select(list(names)).limit(LOOK + 1).to_pyarrow()


def _readable(source: Source, name: str) -> bool:
    try:
        _first(source, [name])
    except DataError:
        return False
    return True
