"""Domains with their sample and population sizes: one row each, or counted from records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.data.codebook import Codebook
from discreet.data.database import ADDRESS
from discreet.data.figures import is_text
from discreet.data.frames import label, plain
from discreet.data.readers import parquet, suffix_of, text
from discreet.data.reading import Reading, the_codebook
from discreet.data.source import OnlyCapitals, Source, engine_errors, from_arrow
from discreet.data.sources import open_source
from discreet.data.totals import check_labels, is_total
from discreet.errors import DataError, near
from discreet.look.result import Unpublished
from discreet.look.telling import tell

SAMPLE, CELL = "sample size", "cell count"  # what is counted from records


@dataclass(frozen=True, eq=False)
class Domains(Unpublished):
    """Domains of a survey: `n` people sampled of `N`, `y` of these in the class, in each row.

    `columns` are as they stand in the data.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> towns = pd.DataFrame({"sample": [3, 5], "people": [8, 20], "ill": [1, 2]})
    >>> found = dc.survey.read_domains(
    ...     towns, sample_size="sample", population="people", cell_count="ill")
    >>> dc.publish(found.n, found.N, found.y, alpha=1, beta=10, ratio=0.8)
    Publication(1 of 2 cells published: 67% of the data, 60% of the risk; publish where R1 < 0.8 R0)
    """

    name: str
    columns: Mapping[str, list[Any]]
    n: Floats
    N: Floats
    y: Floats
    covariates: Mapping[str, Floats]

    def __len__(self) -> int:
        return len(self.n)


@dataclass(frozen=True, eq=False)
class Rows:
    """An Arrow table and what to call it."""

    table: Any
    name: str
    codebook: Codebook = field(default_factory=Codebook)

    def labels(self, name: str) -> list[str]:
        """What the values of a column are called."""
        return [self.codebook.label(name, value) for value in self.column(name).to_pylist()]

    def column(self, name: str) -> Any:
        names = self.table.column_names
        if name not in names:
            raise DataError(f"{self.name} has no column {name!r}; {near(name, names, 'it has')}")
        return self.table[name].combine_chunks()

    def numbers(self, name: str) -> Floats:
        """A column as numbers; what is none is named with its row."""
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self.column(name)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            column = pc.utf8_trim_whitespace(column)
        try:
            values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        except pa.ArrowException:
            values = np.array([_number(value) for value in column.to_pylist()])
        values = np.asarray(values, np.float64)
        if not np.isfinite(values).all():
            row = int(np.argmin(np.isfinite(values)))
            value = column[row].as_py()
            what = "nothing" if value in (None, "") else repr(value)
            more = ", with a point, as 1.5" if "," in str(value) else ""
            raise DataError(
                f"row {row + 1} of {self.name} has {what} in {name!r}; give a number{more}."
            )
        return values


def read_domains(
    data: object,
    *,
    sample_size: str | None,
    population: str,
    cell_count: str,
    domain: str | None = None,
    covariates: Sequence[str] = (),
    table: str | None = None,
    records: bool = False,
    codebook: Codebook | str | Path | None = None,
) -> Domains:
    """One row a domain; with `domain`, records, which are counted for each value of that column.

    Of records, `cell_count` is `COLUMN=VALUE`, who is in the class, or a column of 0 and 1;
    the population, and the sample size if it is not the number of records, is a column that is
    the same throughout a domain. What looks like cells is refused unless `records` says that each
    row is a person. A codebook says what codes are called.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"town": [*"AABB"], "ill": [1, 0, 0, 0], "people": [8, 8, 9, 9]})
    >>> found = dc.survey.read_domains(
    ...     people, sample_size=None, population="people", cell_count="ill", domain="town")
    >>> found.n, found.N, found.y
    (array([2., 2.]), array([8., 9.]), array([1., 0.]))
    """
    rows = read_rows(data, table=table)
    stated = the_codebook(codebook)
    if stated.documents:
        stated = stated.fitted(rows.table.column_names)
    stated.check_columns(rows.table.column_names)
    rows = replace(rows, codebook=stated.over(rows.codebook))
    if domain is not None:
        if not records:
            said = [name for name in (sample_size, population, *covariates) if name]
            _check_people(rows, said, stated)
            read = [(name, {*rows.labels(name)}) for name in (domain, cell_count.partition("=")[0])]
            check_labels(read, ("records", True), rows.name, rows.codebook)
        rows = _counted(rows, domain, sample_size, population, cell_count, covariates)
        sample_size, cell_count = sample_size or SAMPLE, CELL
    else:
        _check_domains(rows)
    if sample_size is None:
        raise DataError("name the column of the sample sizes, or the column of the domains.")
    names = [sample_size, population, cell_count]
    if len(set(names)) < 3:
        raise DataError(
            f"sample size, population and cell count are {', '.join(names)}; name three columns."
        )
    columns = {}
    n, N, y = (_whole(rows, name) for name in names)
    for wrong, less, more in (
        (y > n, (cell_count, y), (sample_size, n)),
        (n > N, (sample_size, n), (population, N)),
    ):
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"row {row + 1} of {rows.name} has {less[1][row]:,.0f} in {less[0]!r}, more than "
                f"{more[1][row]:,.0f} in {more[0]!r}; correct it."
            )
    chosen = {name: rows.numbers(name) for name in covariates}
    known = dict(zip(names, (n, N, y), strict=True))
    for name in rows.table.column_names:
        whole = known.get(name)
        if whole is not None:
            columns[name] = whole.astype(int).tolist()
        elif rows.codebook.entry(name).labels:
            columns[name] = rows.labels(name)
        else:
            columns[name] = rows.table[name].to_pylist()
    return Domains(rows.name, columns, n, N, y, chosen)


def read_rows(data: object, *, table: str | None = None) -> Rows:
    """All rows of a file, a frame or a database table.

    A column n beside a column N is usual here, so that files with such names are read by Arrow: the
    engine does not tell them apart.
    """
    path = Path(data) if isinstance(data, str | Path) else None
    if path is None and not isinstance(data, Source) and not hasattr(data, "to_pyarrow"):
        return _full(Rows(plain(data)[0], "the frame"))
    if path is not None and not ADDRESS.match(str(data)) and table is None and path.is_file():
        found = _cased(path)
        if found is not None:
            return _full(found)
    try:
        source = open_source(data, table=table)
    except OnlyCapitals as error:
        if error.records is None or path is None:
            raise
        return _full(Rows(error.records, repr(path.name)))
    with engine_errors(source.name):
        return _full(Rows(source.records.to_pyarrow(), source.name, source.codebook or Codebook()))


def _cased(path: Path) -> Rows | None:
    """A file with columns whose names differ only in capitals."""
    import pyarrow.parquet as pq

    suffix, name = suffix_of(path), repr(path.name)
    with engine_errors(name):
        if suffix in parquet.SUFFIXES:
            names = pq.read_schema(path).names
        elif suffix in text.SUFFIXES:
            names = list(text.read_header(path, name).names)
        else:
            return None
        if len({n.lower() for n in names}) == len(names) or len(set(names)) < len(names):
            return None
        if suffix in parquet.SUFFIXES:
            return Rows(plain(pq.read_table(path))[0], name)
        found, note = text.read_arrow(path, name)
        if note is not None:
            tell(note)
        return Rows(found, name)


def _full(rows: Rows) -> Rows:
    if not rows.table.num_rows:
        raise DataError(f"{rows.name} has no rows; it needs at least one below its header.")
    return rows


def _whole(rows: Rows, name: str) -> Floats:
    values = rows.numbers(name)
    wrong = (values != np.floor(values)) | (values < 0)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"row {row + 1} of {rows.name} has {values[row]:g} in {name!r}; give a whole number "
            "from 0 on."
        )
    return values


def _number(value: object) -> float:
    try:
        return float(str(value))
    except ValueError:
        return float("nan")


def _check_people(rows: Rows, explained: Sequence[str], stated: Codebook) -> None:
    """Columns whose use is said are no counts."""
    left = [name for name in rows.table.column_names if name not in explained]
    if left and len({name.lower() for name in left}) == len(left):
        opened = Reading().open(from_arrow(rows.table.select(left), {}, rows.name))
        opened.check_people(stated.classifying)


def _check_domains(rows: Rows) -> None:
    """Refuse a row that is the sum of others, by its name."""
    for name in rows.table.column_names:
        named = is_text(rows.table[name]) or rows.codebook.entry(name).labels
        for value in dict.fromkeys(rows.labels(name)) if named else ():
            if is_total(value) and rows.table.num_rows > 1:
                raise DataError(
                    f"{rows.name} has {value!r} in {name!r} among the domains: take that row out "
                    "if it is the sum of others, or call it something else."
                )


def _counted(
    rows: Rows,
    domain: str,
    sample_size: str | None,
    population: str,
    cell_count: str,
    covariates: Sequence[str],
) -> Rows:
    """Records as one row a domain."""
    import pyarrow as pa

    kept = [name for name in (sample_size, population, *covariates) if name is not None]
    places = rows.labels(domain)
    if "" in places:
        row = places.index("") + 1
        raise DataError(f"row {row} of {rows.name} has no {domain!r}; give it, or leave it out.")
    found, first, of = np.unique(np.array(places), return_index=True, return_inverse=True)
    columns: dict[str, Any] = {domain: found.tolist()}
    for name in kept:
        values = rows.numbers(name)
        wrong = values != values[first][of]
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"{name!r} is {values[first[of[row]]]:g} and {values[row]:g} in the domain "
                f"{places[row]!r} of {rows.name}; it must be the same throughout a domain."
            )
        columns[name] = values[first].tolist()
    if sample_size is None:
        columns[SAMPLE] = np.bincount(of).tolist()
    columns[CELL] = np.bincount(of, _members(rows, cell_count)).astype(int).tolist()
    return Rows(pa.table(columns), rows.name)


def _members(rows: Rows, cell_count: str) -> Floats:
    """1 for each record in the class."""
    column, says, value = cell_count.partition("=")
    if not says:
        flags = rows.numbers(column)
        wrong = ~np.isin(flags, (0, 1))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"row {row + 1} of {rows.name} has {flags[row]:g} in {column!r}, which is neither "
                f"0 nor 1; write {column}=VALUE to count a category."
            )
        return flags
    members = np.array([text == value.strip() for text in rows.labels(column)])
    if not members.any():  # by its code
        members = np.array([label(v) == value.strip() for v in rows.column(column).to_pylist()])
    if not members.any():
        raise DataError(f"no record of {rows.name} has {value!r} in {column!r}; check the value.")
    return members.astype(np.float64)
