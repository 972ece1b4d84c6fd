"""Columns of a file as the matrix of a regression: indicators of categories, and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.utility.records import check_columns, labels, numbers

if TYPE_CHECKING:
    import pandas as pd


MOST_NUMBERS = 1 << 26  # of a matrix: half a gigabyte


@dataclass(frozen=True, eq=False)
class Block:
    """One column: what each of its distinct values puts into the matrix, and who has which."""

    name: str
    columns: tuple[str, ...]
    values: Floats
    codes: Ints


def is_number(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column holds numbers, booleans not counted."""
    return frame[name].dtype.kind in "iuf"


def category_block(frame: pd.DataFrame, name: str) -> Block:
    """An indicator of each category but the first; missing is a category."""
    codes, names = labels(frame[name])
    said = tuple(f"{name}={category or '(missing)'}" for category in names[1:])
    return Block(name, said, np.eye(len(names))[:, 1:], codes)


def number_block(frame: pd.DataFrame, name: str, *, squares: bool = False) -> Block:
    """The number in standard deviations from the mean; where missing, 0 and an indicator."""
    found = numbers(frame, name)
    distinct, codes = np.unique(found, return_inverse=True)  # one nan, at the end
    known = ~np.isnan(distinct)
    weight = np.bincount(codes, minlength=len(distinct)).astype(np.float64)
    if not known.any():
        return Block(name, (), np.zeros((len(distinct), 0)), codes)
    mean = np.average(distinct[known], weights=weight[known])
    spread = np.sqrt(np.average((distinct[known] - mean) ** 2, weights=weight[known]))
    scaled = np.where(known, (distinct - mean) / (spread or 1.0), 0.0)
    columns, said = [scaled], [name]
    if squares:
        columns.append(np.where(known, scaled**2, 0.0))
        said.append(f"{name}^2")
    if not known.all():
        columns.append(1.0 - known)
        said.append(f"{name}=(missing)")
    return Block(name, tuple(said), np.column_stack(columns), codes)


def blocks(
    frame: pd.DataFrame, columns: Sequence[str], *, numeric: Sequence[str], squares: bool = False
) -> list[Block]:
    """A block a column."""
    check_columns(frame, columns)
    if len(set(columns)) < len(columns) or not columns:
        raise DataError(f"the columns are {list(columns)}; name at least one, and each once.")
    return [
        number_block(frame, name, squares=squares) if name in numeric
        else category_block(frame, name)
        for name in columns
    ]  # fmt: skip


def distinct_rows(parts: Sequence[Block]) -> tuple[Ints, Ints]:
    """A record of each kind, and of which kind every record is."""
    key = np.zeros(len(parts[0].codes), np.int64)
    for part in parts:
        key = key * len(part.values) + part.codes
        _, key = np.unique(key, return_inverse=True)
    _, first = np.unique(key, return_index=True)
    return first.astype(np.int64), key.astype(np.int64)


def matrix(parts: Sequence[Block], rows: Ints, *, pairs: bool) -> Floats:
    """Ones, the blocks, and with `pairs` the products of columns of two blocks."""
    wide = [len(part.columns) for part in parts]
    number = 1 + sum(wide)
    if pairs:
        number += (sum(wide) ** 2 - sum(w * w for w in wide)) // 2
    if number * len(rows) > MOST_NUMBERS:
        raise DataError(
            f"the regression has {number:,} parameters for {len(rows):,} distinct records, more "
            "than fits; name fewer columns, merge categories, or leave out pairs."
        )
    single = [part.values[part.codes[rows]] for part in parts]
    found = [np.ones((len(rows), 1)), *single]
    if pairs:
        found += [
            (one[:, :, None] * two[:, None, :]).reshape(len(rows), -1)
            for place, one in enumerate(single)
            for two in single[place + 1 :]
        ]
    return np.hstack(found)
