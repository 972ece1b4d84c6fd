"""Counts over named axes, kept sparse and exact."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from discreet.data.codebook import Variable
from discreet.data.count import LARGEST_COUNT
from discreet.data.frames import label
from discreet.errors import DataError
from discreet.look.notebook import Rows
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.table.axes import OverAxes
from discreet.table.cells import Cells
from discreet.table.codings import Coding, changed, of_variables, stated_ties, supposing
from discreet.table.formula import margin_names
from discreet.table.impossible import (
    Combination,
    Groups,
    Ties,
    by_names,
    codes_of,
    combinations,
    grouped,
    spelled,
    within,
)
from discreet.table.keys import Codes, Counts, keys, lookup, merge, unravel

if TYPE_CHECKING:
    from discreet.data.reading import How
    from discreet.table.stored_table import StoredTable

MOST_DENSE = 1 << 26
MOST_AXES = 64  # of a numpy array


@dataclass(frozen=True, eq=False)
class Table(Result, OverAxes):
    """A cross-classification: the non-zero cells in row-major order, and their counts.

    `impossible` are the combinations of categories that nobody can have, as stated, `nestings` the
    pairs of a variable and one that it was said to lie within. `codings` only look so in the data.

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
    impossible: tuple[Combination, ...] = ()
    codings: tuple[Coding, ...] = ()
    nestings: tuple[tuple[str, str], ...] = ()

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
    def read(cls, data: object, *, columns: object = None, **how: Unpack[How]) -> Table:
        """Cells from a file, a frame or a database; `count` names the counts, `columns` those that
        people are classified by, the rest is as in `dc.load`.
        """
        from discreet.data.reading import CELLS, Reading
        from discreet.table.read import table_of

        given: dict[str, Any] = {**how, "variables": columns}
        said = Reading.of(given, takes=CELLS)
        return table_of(said.open(data), said.variables)

    # What it is

    @property
    def size(self) -> int:
        """Number of cells, zeros included."""
        return self.axes.cells

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def variable(self, name: str) -> Variable:
        return self.variables[self.axes.places([name])[0]]

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

    def _shown_rows(self, most: int) -> Rows | None:
        return self.nonzero()._shown_rows(most)

    # Tables made from it

    def margin(self, names: str | Iterable[str]) -> Table:
        """The table over some of the variables: `Race*Income`, or their names in any order."""
        if isinstance(names, str):
            names = margin_names(names, self.names)
        places = self.axes.places(names)
        if len(set(places)) < len(places):
            twice = next(place for place in places if places.count(place) > 1)
            raise DataError(f"the margin names {self.names[twice]!r} twice; name it once.")
        variables = tuple(self.variables[place] for place in places)
        return dataclasses.replace(
            Table.from_cells(variables, self.codes[:, places], self.counts),
            dropped=self.dropped,
            sampling_fraction=self.sampling_fraction,
            **of_variables(self, [variable.name for variable in variables]),
        )

    def collapse(self, *names: str) -> Table:
        """The table summed over the named variables."""
        self.axes.places(names)
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
        chosen, held = np.ones(len(self), bool), {}
        for name, category in categories.items():
            place = self.axes.places([name])[0]
            code = self.variables[place].code(category)
            chosen &= self.codes[:, place] == code
            held[name] = self.variables[place].categories[code]
        part = dataclasses.replace(
            self, codes=self.codes[chosen], counts=self.counts[chosen], impossible=()
        )
        left = within(self.ruled_out, held)
        return dataclasses.replace(part.collapse(*categories), impossible=left)

    def merge(self, name: str, groups: Mapping[str, str] | Sequence[str]) -> Table:
        """The table with the categories of one variable merged into groups."""
        place = self.axes.places([name])[0]
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
        group_of = dict(zip(variable.categories, map(str, groups), strict=True))
        left = grouped(self.impossible, name, group_of)
        return Table.from_cells(
            variables,
            codes,
            self.counts,
            dropped=self.dropped,
            sampling_fraction=self.sampling_fraction,
            impossible=left,
            codings=changed(self.codings, lambda group: grouped(group, name, group_of)),
            nestings=self.nestings,
        )

    def beside(self, name: str, merged: str, group_of: Mapping[str, str]) -> Table:
        """The table with the merged categories of a variable as a further one, called `merged`.

        A category is impossible together with a group that it is not in.

        >>> Table.of([4, 4, 1], Hair=["Black", "Red", "Blond"]).beside(
        ...     "Hair", "Shade", {"Black": "dark", "Red": "light", "Blond": "light"}
        ... )
        Table(Hair 3 x Shade 2: 9 in 3 of 6 cells)
        """
        place = self.axes.places([name])[0]
        fine = self.variables[place]
        groups = [group_of[category] for category in fine.categories]
        coarse = dataclasses.replace(fine.merged(groups), name=merged)
        code = np.array([coarse.code(group) for group in groups])
        codes = np.column_stack([self.codes, code[self.codes[:, place]]])
        codes = codes.astype(np.min_scalar_type(max(codes.max(initial=0), 1)))
        table = dataclasses.replace(self, variables=(*self.variables, coarse), codes=codes)
        others = {c: [g for g in coarse.categories if g != group_of[c]] for c in fine.categories}
        return table.excluding({name: c, merged: gs} for c, gs in others.items() if gs)

    # Who nobody can be

    def excluding(self, stated: Iterable[Mapping[str, object]]) -> Table:
        """The table where nobody can have these combinations; a list means each of its categories.

        >>> table = Table.of([[4, 0], [3, 9]], Age50=["<50", "50+"], Age51=["<51", "51+"])
        >>> table.excluding([{"Age50": "<50", "Age51": "51+"}]).impossible
        ((('Age50', '<50'), ('Age51', '51+')),)
        """
        fresh = combinations(self.variables, stated)
        for names, group in fresh.items():
            margin = self.margin(names)
            counts = margin.lookup(codes_of(margin.variables, group))
            if counts.any():
                wrong = int(np.argmax(counts > 0))
                have = plural(int(counts[wrong]), "person has", "people have")
                raise DataError(
                    f"{spelled(group[wrong])} is called impossible, but {have} it; correct the "
                    "data, or leave it out."
                )
        both = {*self.impossible}.union(*fresh.values())
        codings = changed(self.codings, lambda group: {*group}.difference(*fresh.values()))
        return dataclasses.replace(self, impossible=tuple(sorted(both)), codings=codings)

    def supposing(self, codings: Iterable[Coding] | None = None) -> Table:
        """The table where what was found is impossible too: of the given codings, else of all."""
        return supposing(self, codings)

    @cached_property
    def ruled_out(self) -> Groups:
        """The impossible combinations by their variables."""
        return by_names(self.impossible)

    @cached_property
    def _ties(self) -> Ties:
        """What stated pairs say of others, through variables that are left out."""
        return stated_ties(self)

    @property
    def found(self) -> tuple[str, ...]:
        """What looks impossible without being stated, in words."""
        return tuple(map(str, self.codings))

    # Cells of it

    def small(self, at_most: int = 2) -> Cells:
        """The cells with a count from 1 to `at_most`."""
        return self.nonzero().take(self.counts <= at_most)

    def nonzero(self) -> Cells:
        return Cells(self.variables, self.codes, self.counts)

    def named(self, *cells: Mapping[str, object]) -> Cells:
        """Cells by their categories, of the table or of one margin of it.

        >>> from discreet.table.load import load
        >>> load("example:tract").named({"Race": "Chinese", "Gender": "Male"}).counts
        array([4])
        """
        names = {self.axes.set_of(cell) for cell in cells}
        if len(names) != 1:
            raise DataError("name cells of one margin: the same variables in each.")
        margin = self.margin(self.axes.names_of(names.pop()))
        codes = [[v.code(str(cell[v.name])) for v in margin.variables] for cell in cells]
        asked = np.array(codes, margin.codes.dtype)
        return Cells(margin.variables, asked, margin.lookup(asked))

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

    def store(self, folder: str | Path) -> StoredTable:
        """Cells to a new folder, where tables too large for memory are kept too."""
        from discreet.table.stored_table import store

        return store(self, folder)

    def _dense_size(self) -> int:
        if self.size > MOST_DENSE:
            raise DataError(
                f"the table has {_shown(self.size)} cells, too many to hold at once; "
                "take a margin, or ask for its small or non-zero cells."
            )
        return self.size


def _shown(size: int) -> str:
    return f"{size:,}" if size < 10**15 else f"10^{int(math.log10(size))}"
