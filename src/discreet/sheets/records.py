"""The rows that sheets are made from: codes, numbers, and who is behind them."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Bools, Floats, Ints
from discreet.data.amounts import amounts
from discreet.data.codebook import MISSING, Missing, Role, Variable
from discreet.data.count import choose_columns
from discreet.data.encode import encode, places
from discreet.data.impossible import Impossible
from discreet.data.source import engine_errors
from discreet.data.totals import check_people
from discreet.errors import DataError
from discreet.look.result import Unpublished
from discreet.look.words import plural
from discreet.sheets.sheet import Measure
from discreet.table.codings import with_impossible
from discreet.table.impossible import codes_of
from discreet.table.microdata import Microdata
from discreet.table.table import Table

COUNTED = "count"  # what a table without a value shows
STATED_SENSITIVE = {Role.SENSITIVE, Role.BOTH}
NO = {"", "0", "no", "false", "n", MISSING}  # of a column that marks requests


@dataclass(frozen=True, eq=False)
class Records(Unpublished):
    """Rows of data, each of so many people: codes of every variable, numbers to add up, owners,
    and who is asking to be protected.

    A number that is missing counts as 0, and `blank` says where: such a record is in every table of
    counts, and in no table of the number. `impossible` is what nobody can be, as somebody stated
    it; `find` is off where a person says that whatever else looks so can occur. `independent` are
    columns of which a person says that their sums tell nothing of each other; counts are called
    "count" there. `unread` are columns of the data that no table needs, and `sensitive` those
    numbers that the codebook calls so.

    >>> from discreet.table.load import load
    >>> Records.of_table(load("example:tract"))
    Records(16 rows, 742 people, 3 variables)
    """

    variables: tuple[Variable, ...]
    codes: Mapping[str, NDArray[Any]]
    people: Ints
    table: Table = field(repr=False)
    numbers: Mapping[str, Floats] = field(default_factory=dict)
    owners: Mapping[str, Ints] = field(default_factory=dict)
    asking: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    impossible: Mapping[tuple[str, ...], Any] = field(default_factory=dict)
    dropped: int = 0
    blank: Mapping[str, Bools] = field(default_factory=dict)
    find: bool = True
    independent: tuple[frozenset[str], ...] = ()
    unread: frozenset[str] = frozenset()
    sensitive: frozenset[str] = frozenset()

    @classmethod
    def of_table(cls, table: Table, *, find: bool = True) -> Records:
        """Cells of a table: counts, and nothing else."""
        codes = {v.name: table.codes[:, i] for i, v in enumerate(table.variables)}
        return cls(
            table.variables,
            codes,
            table.counts.astype(np.int64),
            table,
            impossible=_closed(table),
            dropped=table.dropped,
            find=find,
        )

    @classmethod
    def read(
        cls,
        people: Microdata,
        *,
        variables: Iterable[str] | None = None,
        measures: Iterable[Measure] = (),
        impossible: object = None,
    ) -> Records:
        """One row a record, with the columns that the measures need."""
        source, book, measures = people.source, people.codebook, tuple(measures)
        numbers = dict.fromkeys(c for m in measures for c in m.numbers)
        holdings = {m.holding: None for m in measures if m.holding}
        requests = {m.request: None for m in measures if m.request}
        aside = {*numbers, *holdings, *requests}
        for column in aside:
            if column not in source.columns:
                raise DataError(
                    f"{source.name} has no column {column!r}; it has "
                    f"{', '.join(source.columns[:12])}."
                )
        wanted = choose_columns(source, variables, book)
        wanted = tuple(n for n in wanted if variables is not None or n not in aside)
        columns = [*wanted, *(name for name in sorted(aside) if name not in wanted)]
        with engine_errors(source.name):
            rows = source.records.select(columns).to_pyarrow()
        if rows.num_rows == 0:
            raise DataError(f"{source.name} has no records; it needs at least one.")
        coded = [
            encode(name, rows[name], book, source.orders.get(name, ()), source.name)
            for name in wanted
        ]
        check_people([c.variable for c in coded], people.totals, source.name)
        kept = np.ones(rows.num_rows, bool)
        if book.missing is Missing.DROP:
            kept = ~np.any([column.missing for column in coded], axis=0)
        values = {name: amounts(name, rows[name], book, source.name) for name in numbers}
        blank = {name: np.isnan(value) for name, value in values.items()}
        if book.missing is Missing.DROP:
            kept &= ~np.any([np.zeros(len(kept), bool), *blank.values()], axis=0)
        lost = int((~kept).sum())
        if not kept.any() or any(one[kept].all() for one in blank.values()):
            raise DataError(f"every record of {source.name} has a missing value; mend the columns.")
        codes = {column.variable.name: column.codes[kept] for column in coded}
        table = Table.from_cells(
            tuple(column.variable for column in coded),
            np.stack(list(codes.values()), axis=1),
            np.ones(int(kept.sum()), np.int64),
            dropped=lost,
            sampling_fraction=book.sampling_fraction,
        )
        table = with_impossible(table, book, impossible, people.columns)
        return cls(
            table.variables,
            codes,
            np.ones(int(kept.sum()), np.int64),
            table,
            {name: np.nan_to_num(value[kept]) for name, value in values.items()},
            {name: _owners(rows[name], name)[kept] for name in holdings},
            {name: _asking(rows[name])[kept] for name in requests},
            _closed(table),
            lost,
            {name: one[kept] for name, one in blank.items() if one[kept].any()},
            (book.impossible + Impossible.of(impossible)).find,
            sensitive=frozenset(n for n in numbers if book.entry(n).role in STATED_SENSITIVE),
        )

    def __len__(self) -> int:
        return len(self.people)

    def without(self, measure: Measure) -> Bools:
        """Rows that are in no cell of a measure: one of its numbers is missing, or the weight 0."""
        found = self._blank(measure)
        if measure.weight:
            found |= self.numbers[measure.weight] == 0
        return found

    def _blank(self, measure: Measure) -> Bools:
        found = np.zeros(len(self), bool)
        for name in measure.numbers:
            found |= self.blank.get(name, False)
        return found

    def behind(self, measure: Measure) -> Records:
        """The rows that are in some cell of a measure."""
        kept = ~self.without(measure)
        if kept.all():
            return self
        columns = ("codes", "numbers", "owners", "asking", "blank")
        rows: dict[str, Any] = {
            name: {key: column[kept] for key, column in getattr(self, name).items()}
            for name in columns
        }
        codes = np.stack([rows["codes"][name] for name in self.table.names], axis=1)
        counted = Table.from_cells(self.table.variables, codes, self.people[kept])
        table = dataclasses.replace(self.table, codes=counted.codes, counts=counted.counts)
        return dataclasses.replace(self, people=self.people[kept], table=table, **rows)

    def missing(self, measures: Iterable[Measure]) -> tuple[str, ...]:
        """What is missing for some measures, in sentences for the report."""
        said = []
        if self.dropped:
            said.append(f"{plural(self.dropped, 'record')} with missing values left out.")
        for measure in dict.fromkeys(Measure(m.value, m.weight, shadow=m.shadow) for m in measures):
            if many := int(self._blank(measure).sum()):
                names = " or ".join(map(repr, measure.numbers))
                said.append(
                    f"{plural(many, 'record')} without a number in {names}: left out of the "
                    f"{measure}, and counted in tables of counts."
                )
        return tuple(said)

    def variable(self, name: str) -> Variable:
        for variable in self.variables:
            if variable.name == name:
                return variable
        raise DataError(f"there is no variable {name!r}; there are {', '.join(self.codes)}.")

    def __repr__(self) -> str:
        return (
            f"Records({len(self):,} rows, {int(self.people.sum()):,} people, "
            f"{len(self.variables)} variables)"
        )


def _closed(table: Table) -> dict[tuple[str, ...], Any]:
    by_name = {variable.name: variable for variable in table.variables}
    return {
        names: codes_of([by_name[name] for name in names], group)
        for names, group in table.ruled_out.items()
    }


def _owners(column: Any, name: str) -> Ints:
    """A number for each owner, in whatever letters and blanks it is written; who has none stands
    alone, with a negative one.
    """
    index, distinct = places(name, column)
    texts = [_alike(str(value)) if value is not None else "" for value in distinct]
    number = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    codes = np.array([number[text] if text else -1 for text in texts], np.int64)[index]
    alone = codes < 0
    codes[alone] = -1 - np.arange(int(alone.sum()))
    return np.asarray(codes)


def _alike(text: str) -> str:
    """What is read alike is the same."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())


def _asking(column: Any) -> NDArray[np.bool_]:
    """Which rows of a column mark a request."""
    index, distinct = places("request", column)
    texts = [str(value).strip().casefold() if value is not None else "" for value in distinct]
    return np.asarray(np.array([text not in NO for text in texts], bool)[index])
