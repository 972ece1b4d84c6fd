"""CSV, with whatever separates its fields, in whatever encoding, compressed or not."""

from __future__ import annotations

import csv
import glob
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from discreet.data.encoding import (
    PACKED,
    Encoding,
    as_utf8,
    decoded,
    find_encoding,
    packing,
)
from discreet.data.engines import own_duckdb
from discreet.data.source import Source, check_names
from discreet.errors import DataError

PLAIN = (".csv", ".tsv", ".txt", ".tab")
SUFFIXES = (*PLAIN, *(kind + packed for kind in PLAIN for packed in PACKED))
LOOK = 50  # lines below the header that must have as many fields
LONGEST = 1_000_000  # characters of a header
NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)")


@dataclass(frozen=True)
class Header:
    """What the first line says, and how the file is written."""

    names: tuple[str, ...]
    delimiter: str
    encoding: Encoding


def read(path: Path, name: str) -> Source:
    header = read_header(path, name)
    check_names(header.names, name)
    note = header.encoding.note(name)
    notes = () if note is None else (note,)
    connection = own_duckdb()
    if header.encoding.is_utf8:
        _scan(connection, path, header).create_view("records")
    else:
        with as_utf8(path, header.encoding, name) as plain:
            _scan(connection, plain, header).create("records")
    return Source(connection.table("records"), name, notes=notes)


def _scan(connection: Any, path: Path, header: Header) -> Any:
    # every field as text and nothing sniffed: 01 stays 01, # starts no comment
    return connection.con.read_csv(
        glob.escape(str(path)),
        columns=dict.fromkeys(header.names, "VARCHAR"),
        auto_detect=False,
        header=True,
        delimiter=header.delimiter,
        quotechar='"',
        escapechar='"',
        strict_mode=True,
        null_padding=False,
        ignore_errors=False,
        hive_partitioning=False,
        compression=packing(path) or "none",
    )


def read_arrow(path: Path, name: str) -> tuple[Any, str | None]:
    """All of it as Arrow text, for names that differ only in capitals; and how it was read."""
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    header = read_header(path, name)
    types = dict.fromkeys(header.names, pa.string())
    with as_utf8(path, header.encoding, name) as plain:
        found = arrow_csv.read_csv(
            plain,
            read_options=arrow_csv.ReadOptions(column_names=header.names, skip_rows=1),
            convert_options=arrow_csv.ConvertOptions(column_types=types),
            parse_options=arrow_csv.ParseOptions(delimiter=header.delimiter),
        )
    return found, header.encoding.note(name)


def read_header(path: Path, name: str) -> Header:
    """The names of the columns, trimmed; titles and comments above them are refused."""
    encoding = find_encoding(path, name)
    with decoded(path, encoding, name) as text:
        first = text.readline(LONGEST)
        kind = path.with_suffix("") if packing(path) else path
        tabs = kind.suffix.lower() in (".tsv", ".tab")
        marks = re.sub(r'"[^"]*"', "", first)
        delimiter = "\t" if tabs else max(",;\t|", key=marks.count)
        rows = csv.reader(chain([first], text), delimiter=delimiter)
        try:
            names = [part.strip() for part in next(rows, [])]
        except csv.Error as error:
            raise DataError(f"cannot read the header of {name}: {error}; repair it.") from None
        if names:
            _check_header(first, names, _sizes(rows), name)
    return Header(tuple(names), delimiter, encoding)


def _check_header(first: str, names: list[str], sizes: list[int], name: str) -> None:
    """Refuse what is no header: a title, a comment, the first record."""
    usual, times = Counter(filter(None, sizes)).most_common(1)[0] if any(sizes) else (0, 0)
    if times >= 2 and 2 * times > len(sizes) and usual != len(names) and usual > 1:
        raise DataError(
            f"line 1 of {name} has {len(names)} field{'s' * (len(names) != 1)} where the lines "
            f"below have {usual}; take out titles above the header and names of rows."
        )
    if first.startswith(("# ", "//")) or (len(names) == 1 and len(sizes) > 1 and sizes[0] == 0):
        raise DataError(
            f"line 1 of {name}, {first.strip()[:40]!r}, looks like a title or a comment; take out "
            "what stands above the header."
        )
    if names and all(NUMBER.fullmatch(text) for text in names):
        raise DataError(
            f"line 1 of {name} holds numbers where the names of the columns are needed; write a "
            "header above the records."
        )


def _sizes(rows: Iterator[list[str]]) -> list[int]:
    """The number of fields of the lines below; what is no CSV is left to the engine."""
    found = []
    try:
        for row in islice(rows, LOOK):
            found.append(len(row))
    except csv.Error:
        pass
    return found
