"""Counts over named axes, kept sparse and exact."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.codebook import Codebook, Variable
from discreet.errors import DataError
from discreet.table.cells import Cells, frame
from discreet.table.formula import Formula
from discreet.table.keys import Codes, Counts, lookup, merge, unravel

MOST_DENSE = 1 << 26


@dataclass(frozen=True, eq=False)
class Table:
    """A cross-classification: the non-zero cells in row-major order, and their counts.

    >>> table = Table.of([[4, 4], [4, 4], [4, 0]], Hair=["Black", "Red", "Blond"],
    ...                  Income=["High", "Low"])
    >>> table
    Table(Hair 3 x Income 2: 20 in 5 of 6 cells)
    >>> table.margin("Income").dense()
    array([12,  8])
    """

    variables: tuple[Variable, ...]
    codes: Codes
    counts: Counts
    dropped: int = 0
    sampling_fraction: float | None = None

    def __post_init__(self) -> None:
        self.codes.flags.writeable = False
        self.counts.flags.writeable = False

    @classmethod
    def from_cells(
        cls, variables: Iterable[Variable], codes: Codes, counts: Counts, **more: Any
    ) -> Table:
        """A table from cells in any order; cells that come twice are added up."""
        variables = tuple(variables)
        return cls(variables, *merge(codes, counts, [v.size for v in variables]), **more)

    @classmethod
    def of(cls, array: object, **categories: Iterable[object]) -> Table:
        """A table from a dense array; the axes' names and categories as keywords."""
        dense = np.asarray(array)
        variables = tuple(
            Variable(name, tuple(str(label) for label in labels))
            for name, labels in categories.items()
        )
        if dense.shape != tuple(variable.size for variable in variables):
            raise DataError(
                f"an array of shape {dense.shape} does not fit categories of sizes "
                f"{tuple(variable.size for variable in variables)}."
            )
        if not np.issubdtype(dense.dtype, np.integer) or (dense < 0).any():
            raise DataError("counts are whole numbers from 0 on.")
        places = np.flatnonzero(dense)
        counts = dense.ravel()[places].astype(np.int64)
        return cls(variables, unravel(places, dense.shape), counts)

    @classmethod
    def read(
        cls, data: object, *, count: str, codebook: Codebook | str | Path | None = None, **source: Any
    ) -> Table:
        """Cells from a CSV or Parquet file or a frame; the column `count` has the counts."""
        from discreet.table.read import read_table

        return read_table(data, count=count, codebook=codebook, **source)

    # What it is

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(variable.name for variable in self.variables)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(variable.size for variable in self.variables)

    @property
    def size(self) -> int:
        """Number of cells, zeros included."""
        return math.prod(self.shape)

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def variable(self, name: str) -> Variable:
        return self.variables[self._place(name)]

    def __len__(self) -> int:
        return len(self.counts)

    def __eq__(self, other: object) -> bool:
        """Same axes in the same order, same counts."""
        if not isinstance(other, Table):
            return NotImplemented
        return (
            self.names == other.names
            and all(
                a.categories == b.categories
                for a, b in zip(self.variables, other.variables, strict=True)
            )
            and np.array_equal(self.counts, other.counts)
            and np.array_equal(self.codes, other.codes)
        )

    def __hash__(self) -> int:
        return hash((self.names, self.shape, self.counts.tobytes()))

    def __repr__(self) -> str:
        axes = [f"{variable.name} {variable.size}" for variable in self.variables]
        if len(axes) > 8:
            axes = [*axes[:3], f"... {len(axes) - 4} more ...", axes[-1]]
        return f"Table({' x '.join(axes)}: {self.total:,} in {len(self):,} of {self.size:,} cells)"

    def _repr_html_(self) -> str:
        shown = self.to_frame().head(20).to_html(index=False)
        return f"<p>{self!r}</p>{shown}"

    # Tables made from it

    def margin(self, names: str | Iterable[str]) -> Table:
        """The table over some of the variables: `Race*Income`, or their names in any order."""
        if isinstance(names, str):
            (names,) = Formula.parse(names, self.names).margins
        places = [self._place(name) for name in names]
        variables = tuple(self.variables[place] for place in places)
        return dataclasses.replace(
            Table.from_cells(variables, self.codes[:, places], self.counts),
            dropped=self.dropped,
            sampling_fraction=self.sampling_fraction,
        )

    def collapse(self, *names: str) -> Table:
        """The table summed over the named variables."""
        for name in names:
            self._place(name)
        return self.margin([name for name in self.names if name not in names])

    def reorder(self, names: Iterable[str]) -> Table:
        """The same table with its axes in another order."""
        names = tuple(names)
        if sorted(names) != sorted(self.names):
            raise DataError(f"{', '.join(names)} is not an order of {', '.join(self.names)}.")
        return self.margin(names)

    def slice(self, **categories: object) -> Table:
        """The table of those in the given categories, over the other variables."""
        chosen = np.ones(len(self), bool)
        for name, category in categories.items():
            place = self._place(name)
            chosen &= self.codes[:, place] == self.variables[place].code(category)
        part = dataclasses.replace(self, codes=self.codes[chosen], counts=self.counts[chosen])
        return part.collapse(*categories)

    def merge(self, name: str, groups: Mapping[str, str] | Sequence[str]) -> Table:
        """The table with the categories of one variable merged into groups."""
        place = self._place(name)
        variable = self.variables[place]
        if isinstance(groups, Mapping):
            for category in groups:
                variable.code(category)
            groups = [groups.get(category, category) for category in variable.categories]
        merged = variable.merged(groups)
        codes = self.codes.astype(np.int64)
        codes[:, place] = np.array([merged.code(group) for group in groups])[codes[:, place]]
        variables = (*self.variables[:place], merged, *self.variables[place + 1 :])
        kind = self.codes.dtype
        return Table.from_cells(variables, codes.astype(kind), self.counts, dropped=self.dropped,
                                sampling_fraction=self.sampling_fraction)

    # Cells of it

    def small(self, at_most: int = 2) -> Cells:
        """The cells with a count from 1 to `at_most`."""
        return self.nonzero().take(self.counts <= at_most)

    def nonzero(self) -> Cells:
        return Cells(self.variables, self.codes, self.counts)

    def all(self) -> Cells:
        """Every cell, zeros included."""
        codes = unravel(np.arange(self._dense_size()), self.shape)
        return Cells(self.variables, codes, self.lookup(codes))

    def lookup(self, codes: Codes) -> NDArray[np.int64]:
        """The counts of the given cells."""
        rows = lookup(self.codes, self.shape, codes)
        return np.where(rows >= 0, np.append(self.counts, 0)[rows], 0)

    def dense(self) -> NDArray[np.int64]:
        """All counts as an array with one axis a variable."""
        array = np.zeros(self._dense_size(), np.int64)
        if self.variables:
            array[np.ravel_multi_index(tuple(self.codes.T.astype(np.int64)), self.shape)] = (
                self.counts
            )
        else:
            array[:] = self.total
        return array.reshape(self.shape)

    def to_xarray(self) -> Any:
        """The dense table as an xarray with labelled axes."""
        import xarray

        labels = {variable.name: list(variable.categories) for variable in self.variables}
        return xarray.DataArray(self.dense(), coords=labels, dims=self.names, name="count")

    def to_frame(self, kind: str = "pandas", *, zeros: bool = False, count: str = "count") -> Any:
        """One row a cell; `zeros` adds the empty ones."""
        cells = self.all() if zeros else self.nonzero()
        columns = {name: column for name, column in cells.to_frame().items() if name != "count"}
        return frame({n: c.to_numpy() for n, c in columns.items()} | {count: cells.counts}, kind)

    def write(self, path: str | Path, *, count: str = "count", zeros: bool = False) -> None:
        """Cells to a CSV or Parquet file, by the suffix."""
        from discreet.table.read import write_table

        write_table(self, path, count=count, zeros=zeros)

    def _dense_size(self) -> int:
        if self.size > MOST_DENSE:
            raise DataError(
                f"the table has {self.size:,} cells, too many to hold at once; "
                "take a margin, or ask for its small or non-zero cells."
            )
        return self.size

    def _place(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise DataError(
                f"the table has no variable {name!r}; it has {', '.join(self.names[:10])}."
            ) from None
