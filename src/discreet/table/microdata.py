"""Records of people, counted where they lie."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from discreet.data.bands import banded, check_numbers
from discreet.data.checkpoint import Checkpoint, as_checkpoint
from discreet.data.codebook import Codebook
from discreet.data.count import Counted, choose_columns, count_records
from discreet.data.margins import Limits, count_margins
from discreet.data.reading import PEOPLE, How, Opened, Reading
from discreet.data.roles import check_variables
from discreet.data.source import Source, engine_errors
from discreet.data.totals import check_people
from discreet.errors import DataError
from discreet.look.notebook import Rows
from discreet.look.result import Unpublished
from discreet.table.cells import Cells
from discreet.table.codings import with_impossible
from discreet.table.formula import Formula, margin_names
from discreet.table.table import Table


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
    def read(cls, data: object, **how: Unpack[How]) -> Microdata:
        """A file, a folder, a pattern or a list of files, a pandas, polars or Arrow frame, an ibis
        table, or a database URL; `table` names a table of it, a sheet, or a data frame of R.

        What looks like cells or a cross-tab is refused unless `records` says that each row is a
        person, and a category called Total unless `totals` is "keep". `without` names columns that
        classify nobody, such as identifiers and weights. `bands` groups numbers: {"Income": 10000}
        by a width, {"Income": [0, 10000, 50000]} by cut points, {"Income": "quantiles:5"}, or
        {"Income": "none"} if each number is a category. `codebook` explains the columns.
        """
        return cls.of(Reading.of(how, takes=PEOPLE).open(data))

    @classmethod
    def of(cls, opened: Opened) -> Microdata:
        """The records of a source that is open."""
        opened.check_people()
        source = banded(opened.source, opened.book)
        accepted = opened.stated.classifying
        return cls(source, opened.book, opened.how.totals, opened.without, accepted)

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
        self,
        columns: str | Iterable[str] | None = None,
        *,
        impossible: object = None,
        checkpoint: Checkpoint | str | Path | None = None,
    ) -> Table:
        """The cross-classification by `columns`, or by all; margins of it need no second look.

        Identifiers, weights, household numbers and free text are refused unless they are named.
        `impossible` are combinations that nobody can have, as in a codebook, or "none" if those
        that look so can occur. `checkpoint` names a folder: what is counted is kept there part by
        part, and is not counted again after a failure.
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
        kept = as_checkpoint(checkpoint)
        cells = count_records(self.source, columns, self.codebook, kept)
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
        every = choose_columns(self.source, None, self.codebook)
        return with_impossible(made, self.codebook, impossible, every, self._counted_by)

    def _counted_by(self, columns: Sequence[str], book: Codebook) -> Table:
        cells = count_records(self.source, columns, book)
        return Table.from_cells(cells.variables, cells.codes, cells.counts)

    def margins(
        self,
        margins: str | Iterable[str | Iterable[str]],
        *,
        checkpoint: Checkpoint | str | Path | None = None,
    ) -> tuple[Table, ...]:
        """Several margins, each as `table` counts it: `"Sex*Ill + Age"`, or a list of margins.

        One pass over the records counts many of them, and the full cross-classification is not
        needed, which may be too large.

        >>> import pandas as pd
        >>> frame = pd.DataFrame({"Sex": ["f", "m", "f"], "Ill": ["no", "no", "yes"]})
        >>> Microdata.read(frame).margins("Sex + Ill")
        (Table(Sex 2: 3 in 2 of 2 cells), Table(Ill 2: 3 in 2 of 2 cells))
        """
        found = self._counted(margins, Limits(), checkpoint)
        made = [
            Table(
                cells.variables,
                cells.codes,
                cells.counts,
                dropped=cells.dropped,
                sampling_fraction=self.codebook.sampling_fraction,
            )
            for cells in found
        ]
        return tuple(with_impossible(each, self.codebook, None, self.columns) for each in made)

    def cells(
        self,
        margins: str | Iterable[str | Iterable[str]],
        *,
        at_least: int = 1,
        at_most: int | None = None,
        checkpoint: Checkpoint | str | Path | None = None,
    ) -> tuple[Cells, ...]:
        """The cells of several margins whose counts are within limits; no others leave the engine.

        They are lists of cells, not tables: what is left out is not zero.

        >>> import pandas as pd
        >>> frame = pd.DataFrame({"Sex": ["f", "m", "f"], "Ill": ["no", "no", "yes"]})
        >>> [cells.counts.tolist() for cells in Microdata.read(frame).cells("Sex + Ill", at_most=1)]
        [[1], [1]]
        """
        found = self._counted(margins, Limits(at_least, at_most), checkpoint)
        return tuple(Cells(cells.variables, cells.codes, cells.counts) for cells in found)

    def _counted(
        self,
        margins: str | Iterable[str | Iterable[str]],
        limits: Limits,
        checkpoint: Checkpoint | str | Path | None,
    ) -> list[Counted]:
        if isinstance(margins, str):
            margins = Formula.parse(margins, self.columns, files=False).margins
        listed = [
            margin_names(names, self.columns) if isinstance(names, str) else tuple(names)
            for names in margins
        ]
        if not listed:
            raise DataError("no margin is named; name at least one, as in A*B + C.")
        for names in listed:
            choose_columns(self.source, names, self.codebook)
            if both := [name for name in names if name in self.without]:
                raise DataError(f"column {both[0]!r} is named, and left out; say one.")
        found = count_margins(
            self.source, listed, self.codebook, limits, as_checkpoint(checkpoint)
        )  # fmt: skip
        for cells in found:
            check_people(cells.variables, self.totals, self.source.name)
            if not cells.counts.any() and limits.all:
                raise DataError(
                    f"every record of {self.source.name} has a missing value; count them as a "
                    "category, or leave out the columns where they are."
                )
        return found

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
