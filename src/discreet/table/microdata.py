"""Records of people, counted where they lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from discreet.data.bands import banded, check_numbers, merged
from discreet.data.codebook import Codebook
from discreet.data.count import check_column, choose_columns, count_records
from discreet.data.inhand import in_hand
from discreet.data.kind import check_records
from discreet.data.labelled import check_weight
from discreet.data.roles import check_variables, named, nobodies
from discreet.data.source import Source, engine_errors
from discreet.data.sources import open_source
from discreet.data.totals import check_people
from discreet.errors import DataError
from discreet.look.notebook import Rows
from discreet.look.result import Unpublished
from discreet.table.codings import with_impossible
from discreet.table.read import books
from discreet.table.table import Table, margin_names


@dataclass(frozen=True)
class Microdata(Unpublished):
    """Records in a file, a frame or a database, and the codebook that explains them.

    >>> import pandas as pd
    >>> people = Microdata.read(pd.DataFrame({"Sex": ["f", "m", "f"], "Ill": ["no", "no", "yes"]}))
    >>> people.table("Sex*Ill")
    Table(Sex 2 x Ill 2: 3 in 3 of 4 cells)
    """

    source: Source
    codebook: Codebook
    totals: str | None = None
    without: tuple[str, ...] = ()  # columns that classify nobody
    accepted: frozenset[str] = frozenset()  # those that a person has spoken of

    @classmethod
    def read(
        cls,
        data: object,
        *,
        codebook: Codebook | str | Path | None = None,
        table: str | None = None,
        records: bool = False,
        totals: str | None = None,
        without: str | Iterable[str] | None = None,
        bands: Mapping[str, object] | Iterable[str] | None = None,
    ) -> Microdata:
        """A file, a folder, a pattern or a list of files, a pandas, polars or Arrow frame, an ibis
        table, or a database URL; `table` names a table of it, a sheet, or a data frame of R.

        What looks like cells or a cross-tab is refused unless `records` says that each row is a
        person, and a category called Total unless `totals` is "keep". `without` names columns that
        classify nobody, such as identifiers and weights. `bands` groups numbers: {"Income": 10000}
        by a width, {"Income": [0, 10000, 50000]} by cut points, {"Income": "quantiles:5"}, or
        {"Income": "none"} if each number is a category.
        """
        handed = in_hand(data)
        if handed.count is not None:
            raise DataError("the data in hand count people by cell; read them with load.")
        # by a person; what a file says of itself may be wrong
        stated, source = books(codebook, open_source(handed.data, table=table))
        stated = merged(stated, bands, source)
        book = stated.over(source.codebook)
        book.check_columns(source.columns)
        left_out = named(without, source.columns)
        for name in left_out:
            check_column(source, name)
        if not records:
            # whatever else is left out can still be a count
            aside = [guess.column for guess in nobodies(source, left_out)]
            aside += [stated.weights] if stated.weights else []
            if not stated.weights and book.weights not in left_out:
                check_weight(source)
            check_records(source, known=stated.classifying, aside=aside)
        source = banded(source, book)
        return cls(source, book, totals, left_out, stated.classifying)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that people can be classified by."""
        every = choose_columns(self.source, None, self.codebook)
        left = tuple(name for name in every if name not in self.without)
        if not left:
            raise DataError(
                f"no column of {self.source.name} is left to classify by; leave out fewer."
            )
        return left

    def table(
        self, columns: str | Iterable[str] | None = None, *, impossible: object = None
    ) -> Table:
        """The cross-classification by `columns`, or by all; margins of it need no second look.

        Identifiers, weights, household numbers and free text are refused unless they are named.
        `impossible` are combinations that nobody can have, as in a codebook, or "none" if those
        that look so can occur.
        """
        named_by_hand = columns is not None
        if isinstance(columns, str):
            columns = margin_names(columns, self.columns)
        if columns is None:
            columns = self.columns
            check_variables(self.source, columns, accepted=self.accepted)
        columns = choose_columns(self.source, columns, self.codebook)
        if both := [name for name in columns if name in self.without]:
            raise DataError(f"column {both[0]!r} is named, and left out; say one.")
        cells = count_records(self.source, columns, self.codebook)
        if not named_by_hand:
            check_numbers(cells.variables, self.codebook, self.source.name)
        check_people(cells.variables, self.totals, self.source.name)
        made = Table.from_cells(
            cells.variables,
            cells.codes,
            cells.counts,
            dropped=cells.dropped,
            sampling_fraction=self.codebook.sampling_fraction,
        )
        return with_impossible(made, self.codebook, impossible, self.columns)

    def __len__(self) -> int:
        with engine_errors(self.source.name):
            return int(self.source.records.count().to_pyarrow().as_py())

    def _shown_rows(self, most: int) -> Rows:
        """The columns and their roles; a look at people is a look at people."""
        shown = self.columns[:most]
        roles = [self.codebook.entry(name).role.value for name in shown]
        return Rows({"column": shown, "role": roles}, len(self.columns))

    def __repr__(self) -> str:
        return f"Microdata({len(self.columns)} variables of {self.source.name})"
