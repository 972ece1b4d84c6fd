"""Where records come from: files, frames, database tables; all become one ibis table."""

from __future__ import annotations

import csv
import glob
import re
import sqlite3
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.data.database import ADDRESS, hidden, open_table
from discreet.data.frames import plain
from discreet.errors import DataError

SUFFIXES = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet"}
NOT_UTF8 = "it is not UTF-8; save it as UTF-8 and try again."


@dataclass(frozen=True)
class Source:
    """An ibis table, the order of categories that its types carry, and what to call it."""

    records: Any
    name: str
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.records.columns)


def open_source(data: object, *, table: str | None = None) -> Source:
    """Records from a path, a database URL with `table`, a frame, or an ibis table."""
    if isinstance(data, str) and ADDRESS.match(data):
        return Source(open_table(data, table), repr(table))
    if table is not None:
        shown = repr(hidden(str(data))) if isinstance(data, str | Path) else type(data).__name__
        raise DataError(
            f"a table name ({table!r}) goes with a database URL, not with {shown}; leave it out."
        )
    if isinstance(data, str | Path):
        return _from_file(Path(data))
    return data if isinstance(data, Source) else _from_frame(data)


@contextmanager
def engine_errors(name: str) -> Iterator[None]:
    """Whatever the engine says becomes one sentence."""
    import duckdb
    import pyarrow as pa
    from ibis.common.exceptions import IbisError

    kinds = [duckdb.Error, sqlite3.Error, pa.ArrowException, IbisError, ValueError]
    if "psycopg" in sys.modules:
        kinds.append(sys.modules["psycopg"].Error)
    try:
        yield
    except tuple(kinds) as error:
        raise DataError(f"cannot read {name}: {_sentence(str(error))}") from None


def _sentence(message: str) -> str:
    """The part of an engine's message that a person can act on."""
    if re.search(r"unicode|utf-?8|codec", message, re.IGNORECASE):
        return NOT_UTF8
    line = re.search(r"CSV Error on Line: (\d+)", message)
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if line and fields:
        return (
            f"line {line[1]} has {fields[2]} field{'s' * (fields[2] != '1')} where the header has "
            f"{fields[1]}; repair that line."
        )
    if line and "unterminated quote" in message:
        return f"line {line[1]} has a quote or a line end out of place; repair that line."
    if line:
        return f"line {line[1]} is no line of CSV; repair that line."
    if re.search(r"parquet", message, re.IGNORECASE):
        return "it is not a Parquet file, or a damaged one; write it again."
    if "state machine" in message:
        return "its quotes or line ends are mixed; save it again as CSV."
    if re.search(r"conversion failed|could not convert|isoformat", message, re.IGNORECASE):
        column = re.search(r"failed for column (.+?) with type", message)
        which = f"column {column[1]!r}" if column else "a column"
        return f"{which} has values that are not of its type; read a view that makes them text."
    first = message.strip().splitlines()[0] if message.strip() else "the engine gives no reason"
    return first.rstrip(".") + "."


def _from_file(path: Path) -> Source:
    shown = repr(hidden(str(path)))
    if not path.exists():
        raise DataError(
            f"there is no file {shown}; give a CSV or Parquet file, example:NAME, "
            "or a database URL."
        )
    if path.is_dir():
        raise DataError(f"{shown} is a folder; name a CSV or Parquet file in it.")
    kind = SUFFIXES.get(path.suffix.lower())
    if kind is None:
        raise DataError(
            f"{shown} ends in {path.suffix!r}, which is not read; use .csv, .tsv or .parquet."
        )
    name = repr(path.name)
    try:
        with open(path, "rb") as file:
            empty = not file.read(4096).strip()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"cannot read {name}: {reason}; ask for the right to read it.") from None
    if empty:
        raise DataError(f"{name} is empty; it needs a header line and at least one record.")
    with engine_errors(name):
        return _from_parquet(path, name) if kind == "parquet" else _from_csv(path, name)


def _from_parquet(path: Path, name: str) -> Source:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        schema = file.schema_arrow
        orders: dict[str, tuple[str, ...]] = {}
        kept = [f.name for f in schema if pa.types.is_dictionary(f.type)]
        if kept and file.metadata.num_rows:
            # one row is enough: its page comes with the whole dictionary
            first = next(file.iter_batches(batch_size=1, row_groups=[0], columns=kept))
            _, orders = plain(pa.table(first))
    _check_names(schema.names, name)
    connection = _duckdb()
    options = {"binary_as_string": True, "hive_partitioning": False}
    connection.con.read_parquet(glob.escape(str(path)), **options).create_view("records")
    return Source(connection.table("records"), name, orders)


def _from_csv(path: Path, name: str) -> Source:
    with open(path, encoding="utf-8-sig", newline="") as file:
        line = re.sub(r'"[^"]*"', "", file.readline(1_000_000))
        delimiter = "\t" if path.suffix.lower() == ".tsv" else max(",;\t|", key=line.count)
        file.seek(0)
        try:
            names = next(csv.reader(file, delimiter=delimiter), [])
        except csv.Error as error:
            raise DataError(f"cannot read the header of {name}: {error}; repair it.") from None
    _check_names(names, name)
    connection = _duckdb()
    # every field as text and nothing sniffed: 01 stays 01, # starts no comment
    records = connection.con.read_csv(
        glob.escape(str(path)),
        columns=dict.fromkeys(names, "VARCHAR"),
        auto_detect=False,
        header=True,
        delimiter=delimiter,
        quotechar='"',
        escapechar='"',
        strict_mode=True,
        null_padding=False,
        ignore_errors=False,
        hive_partitioning=False,
    )
    records.create_view("records")
    return Source(connection.table("records"), name)


def _from_frame(data: object) -> Source:
    import ibis

    if isinstance(data, ibis.expr.types.Table):
        return Source(data, "the ibis table")
    return from_arrow(*plain(data), "the frame")


def from_arrow(records: Any, orders: Mapping[str, tuple[str, ...]], name: str) -> Source:
    """An Arrow table without dictionaries as a source."""
    _check_names(records.column_names, name)
    connection = _duckdb()
    with engine_errors(name):
        connection.con.register("records", records)
        return Source(connection.table("records"), name, orders)


def _duckdb() -> Any:
    """A connection of its own; what does not fit in memory goes to the temporary folder."""
    import ibis

    spill = Path(tempfile.gettempdir()) / f"discreet-{uuid.uuid4().hex}"
    return ibis.duckdb.connect(temp_directory=str(spill))


def _check_names(names: Sequence[str], name: str) -> None:
    """Engines do not tell Sex from sex, and cannot address a column without a name."""
    seen: dict[str, str] = {}
    for place, column in enumerate(names, 1):
        if not column.strip():
            raise DataError(f"column {place} of {name} has no name; give it one in the header.")
        if (other := seen.setdefault(column.lower(), column)) != column:
            raise DataError(
                f"{name} has the columns {other!r} and {column!r}, which differ only in capitals; "
                "rename one."
            )
        if [*names].index(column) != place - 1:
            raise DataError(f"{name} has two columns named {column!r}; rename one.")
    if not seen:
        raise DataError(f"{name} has no columns; put their names in the first line.")
