"""The categories of all variables of a table below each other, as rows of an array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.models.parts import check_dense
from discreet.table.cells import frame
from discreet.table.table import Table

LEAST = 1e-290  # a smaller gamma variate is this


@dataclass(frozen=True)
class Categories:
    """Arrays with a row for each category of each variable; every column is within a group.

    >>> Categories((2, 3)).shares(np.array([[1.0], [3.0], [2.0], [2.0], [4.0]])).ravel()
    array([0.25, 0.75, 0.25, 0.25, 0.5 ])
    """

    sizes: tuple[int, ...]

    @cached_property
    def rows(self) -> int:
        return sum(self.sizes)

    @cached_property
    def starts(self) -> Ints:
        return np.cumsum([0, *self.sizes[:-1]])

    def places(self, table: Table) -> Ints:
        """The rows of each non-zero cell, a column a variable."""
        return np.ascontiguousarray(table.codes.astype(np.int64) + self.starts)

    def sums(self, values: Floats) -> Floats:
        """Over the categories of each variable, repeated for each of them."""
        return np.repeat(np.add.reduceat(values, self.starts), self.sizes, axis=0)

    def shares(self, weights: Floats) -> Floats:
        """Of each category among those of its variable; equal where all weights are 0."""
        total = self.sums(weights)
        equal = 1 / np.repeat(self.sizes, self.sizes)[:, None] + np.zeros_like(weights)
        return np.divide(weights, total, out=equal, where=total > 0)

    def draw(self, weights: Floats, rng: np.random.Generator) -> Floats:
        """Shares from Dirichlet(weights), for each variable and column."""
        return self.shares(np.maximum(rng.standard_gamma(weights), LEAST))

    def blocks(self, values: Floats) -> Iterator[Floats]:
        """The rows of each variable."""
        yield from np.split(values, self.starts[1:])

    def to_frame(self, table: Table, values: Floats, group: str, share: Floats, kind: str) -> Any:
        """One row a group and category: the group's share, and the category's within it."""
        pairs = [(v.name, category) for v in table.variables for category in v.categories]
        groups = values.shape[1]
        columns = {
            group: np.repeat(np.arange(1, groups + 1), self.rows),
            "share": np.repeat(share, self.rows),
            "variable": [name for name, _ in pairs] * groups,
            "category": [category for _, category in pairs] * groups,
            "probability": values.T.reshape(-1),
        }
        return frame(columns, kind)


def check_fit(table: Table, what: str, number: int, least: int) -> None:
    """Refuse a table without people or with too many cells, and too few or too many groups."""
    check_dense(table)
    if not table.total:
        raise DataError("the table counts nobody, and there is nothing to fit; add counts.")
    if not table.names:
        raise DataError("the table has no variables; give it at least one.")
    if not least <= number <= table.total:
        raise DataError(
            f"{number:,} {what} do not fit {table.total:,} people; give {least} to {table.total:,}."
        )


def check_at_least(least: int, **given: int) -> None:
    for name, value in given.items():
        if value < least:
            raise DataError(f"{name} is {value}; give at least {least}.")
