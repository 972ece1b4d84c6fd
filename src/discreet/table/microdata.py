"""Records of people, counted where they lie."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from discreet.data.codebook import Codebook
from discreet.data.count import choose_columns, count_records
from discreet.data.kind import check_records
from discreet.data.source import Source, engine_errors
from discreet.data.sources import open_source
from discreet.data.totals import check_people
from discreet.table.codings import with_impossible
from discreet.table.read import the_codebook
from discreet.table.table import Table, margin_names


@dataclass(frozen=True)
class Microdata:
    """Records in a file, a frame or a database, and the codebook that explains them.

    >>> import pandas as pd
    >>> people = Microdata.read(pd.DataFrame({"Sex": ["f", "m", "f"], "Ill": ["no", "no", "yes"]}))
    >>> people.table("Sex*Ill")
    Table(Sex 2 x Ill 2: 3 in 3 of 4 cells)
    """

    source: Source
    codebook: Codebook
    totals: str | None = None

    @classmethod
    def read(
        cls,
        data: object,
        *,
        codebook: Codebook | str | Path | None = None,
        table: str | None = None,
        records: bool = False,
        totals: str | None = None,
    ) -> Microdata:
        """A CSV or Parquet file, a pandas, polars or Arrow frame, an ibis table,
        or a database URL with the name of a table.

        What looks like cells or a cross-tab is refused unless `records` says that each row is a
        person, and a category called Total unless `totals` is "keep".
        """
        stated = the_codebook(codebook)  # by a person; what a file says of itself may be wrong
        source = open_source(data, table=table)
        book = stated.over(source.codebook)
        book.check_columns(source.columns)
        if not records:
            aside = [book.weights] if book.weights else []
            check_records(source, known=stated.entries, aside=aside)
        return cls(source, book, totals)

    @property
    def columns(self) -> tuple[str, ...]:
        return choose_columns(self.source, None, self.codebook)

    def table(
        self, columns: str | Iterable[str] | None = None, *, impossible: object = None
    ) -> Table:
        """The cross-classification by `columns`, or by all; margins of it need no second look.

        `impossible` are combinations that nobody can have, as in a codebook, or "none" if those
        that look so can occur.
        """
        if isinstance(columns, str):
            columns = margin_names(columns, self.columns)
        columns = choose_columns(self.source, columns, self.codebook)
        cells = count_records(self.source, columns, self.codebook)
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

    def __repr__(self) -> str:
        return f"Microdata({len(self.columns)} variables of {self.source.name})"
