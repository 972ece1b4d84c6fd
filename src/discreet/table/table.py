"""Counts over named axes, kept sparse and exact."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.codebook import Codebook, Variable
from discreet.data.count import LARGEST_COUNT
from discreet.data.frames import label
from discreet.errors import DataError, FormulaError
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.keys import Codes, Counts, keys, lookup, merge, unravel

MOST_DENSE = 1 << 26
MOST_AXES = 64  # of a numpy array


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
    def of(cls, array: object, /, **categories: Iterable[object]) -> Table:
        """A table from a dense array; the axes' names and categories as keywords."""
        dense = np.asarray(array)
        variables = tuple(
            Variable(name, tuple(label(category) for category in listed))
            for name, listed in categories.items()
        )
        sizes = tuple(variable.size for variable in variables)
        if dense.shape != sizes:
            raise DataError(
                f"an array of shape {dense.shape} does not fit categories of sizes {sizes}; "
                "name each axis with its categories."
            )
        found = dense.ravel() if dense.dtype.kind not in "iu" else dense[dense != 0]
        counts = found.tolist()
        if wrong := [count for count in counts if type(count) is not int or count < 0]:
            raise DataError(
                f"a count is {wrong[0]!r} ({type(wrong[0]).__name__}); counts are whole numbers "
                "from 0 on, given as integers."
            )
        if (total := sum(counts)) > LARGEST_COUNT:
            raise DataError(
                f"the counts sum to {total:,}, which is too large to keep exact; "
                f"the most is {LARGEST_COUNT:,}."
            )
        places = np.flatnonzero(dense)
        return cls(variables, unravel(places, sizes), dense.ravel()[places].astype(np.int64))

    @classmethod
    def read(
        cls,
        data: object,
        *,
        count: str,
        columns: str | Iterable[str] | None = None,
        codebook: Codebook | str | Path | None = None,
        table: str | None = None,
    ) -> Table:
        """Cells from a CSV or Parquet file, a frame or a database; `count` names the counts."""
        from discreet.table.read import read_table

        return read_table(data, count=count, columns=columns, codebook=codebook, table=table)

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
        cells = f"{len(self):,} of {_shown(self.size)} cells"
        return f"Table({' x '.join(axes) or 'total'}: {self.total:,} in {cells})"

    def _repr_html_(self) -> str:
        return self.nonzero()._repr_html_().replace(repr(self.nonzero()), repr(self), 1)

    # Tables made from it

    def margin(self, names: str | Iterable[str]) -> Table:
        """The table over some of the variables: `Race*Income`, or their names in any order."""
        if isinstance(names, str):
            names = margin_names(names, self.names)
        places = [self._place(name) for name in names]
        if len(set(places)) < len(places):
            twice = next(place for place in places if places.count(place) > 1)
            raise DataError(f"the margin names {self.names[twice]!r} twice; name it once.")
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
            raise DataError(
                f"{', '.join(names)} is not an order of {', '.join(self.names)}; "
                "name each variable once."
            )
        return self.margin(names)

    def slice(self, /, **categories: object) -> Table:
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
        code_of = {category: code for code, category in enumerate(merged.categories)}
        codes = self.codes.copy()
        codes[:, place] = np.array([code_of[str(group)] for group in groups])[codes[:, place]]
        variables = (*self.variables[:place], merged, *self.variables[place + 1 :])
        return Table.from_cells(
            variables,
            codes,
            self.counts,
            dropped=self.dropped,
            sampling_fraction=self.sampling_fraction,
        )

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
        if len(self.shape) > MOST_AXES:
            raise DataError(
                f"the table has {len(self.shape)} axes, an array at most {MOST_AXES}; "
                "take a margin first."
            )
        array = np.zeros(self._dense_size(), np.int64)
        array[keys(self.codes, self.shape)] = self.counts
        return array.reshape(self.shape)

    def to_xarray(self) -> Any:
        """The dense table as an xarray with labelled axes."""
        try:
            xarray = import_module("xarray")
        except ImportError:
            raise DataError("xarray is not installed; pip install xarray.") from None
        axes = {variable.name: list(variable.categories) for variable in self.variables}
        return xarray.DataArray(self.dense(), coords=axes, dims=self.names, name="count")

    def to_frame(self, kind: str = "pandas", *, zeros: bool = False, count: str = "count") -> Any:
        """One row a cell; `zeros` adds the empty ones."""
        return (self.all() if zeros else self.nonzero()).to_frame(kind, count=count)

    def write(self, path: str | Path, *, count: str = "count", zeros: bool = False) -> None:
        """Cells to a CSV or Parquet file, by the suffix."""
        from discreet.table.read import write_table

        write_table(self, path, count=count, zeros=zeros)

    def _dense_size(self) -> int:
        if self.size > MOST_DENSE:
            raise DataError(
                f"the table has {_shown(self.size)} cells, too many to hold at once; "
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


def margin_names(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """The variables of the one margin that a formula, or a plain name, stands for."""
    if text in names:
        return (text,)
    margins = Formula.parse(text, names, files=False).margins
    if len(margins) > 1:
        raise FormulaError(f"{text!r} names {len(margins)} margins; name one, as in A*B.")
    return margins[0]


def _shown(size: int) -> str:
    return f"{size:,}" if size < 10**15 else f"10^{int(math.log10(size))}"
