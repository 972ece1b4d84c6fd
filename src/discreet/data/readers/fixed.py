"""Fixed width: fields stand where a layout says; lines of another length are refused."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Any

from discreet.data.encoding import PACKED, as_utf8, find_encoding, packing
from discreet.data.engines import own_duckdb
from discreet.data.layout import Layout, find_layout, read_layout
from discreet.data.source import Source
from discreet.errors import DataError

PLAIN = (".dat", ".fwf", ".asc", ".prn")
SUFFIXES = (*PLAIN, *(".dat" + packed for packed in PACKED))
TABLES = True  # a layout by its name
BREAK = "\x1f"  # between fields of a file that has but one


def at_layout(path: Path) -> tuple[Path, str | None]:
    """`people.dat@layout.csv`: the file, and the layout that is named."""
    for place, letter in enumerate(text := str(path)):
        if letter == "@" and text[:place].lower().endswith(SUFFIXES):
            return Path(text[:place]), text[place + 1 :] or None
    return path, None


def read(path: Path, name: str, table: str | None = None) -> Source:
    place = _named(path, table) if table else find_layout(_unpacked_name(path), name)
    layout = read_layout(place)
    encoding = find_encoding(path, name)
    connection = own_duckdb()
    if encoding.is_utf8:
        _lines(connection, path).create_view("lines")
    else:
        with as_utf8(path, encoding, name) as plain:
            _lines(connection, plain).create("lines")
    lines = connection.table("lines")
    _check_lengths(connection, layout, name)
    columns = {
        part.name: lines["line"].substr(part.start - 1, part.width).strip() for part in layout.named
    }
    said = f"{name} was read by the layout {place.name!r}."
    notes = [note for note in (encoding.note(name), said) if note]
    records = lines.filter(lines["line"].notnull()).select(**columns)
    return Source(records, name, codebook=layout.codebook, notes=tuple(notes))


def _named(path: Path, layout: str) -> Path:
    """As it is named, or beside the data."""
    places = [Path(layout), path.parent / layout]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise DataError(f"there is no layout {layout!r}; name a .csv, .toml or .xml file.")
    return found


def _unpacked_name(path: Path) -> Path:
    return path.with_suffix("") if packing(path) else path


def _lines(connection: Any, path: Path) -> Any:
    return connection.con.read_csv(
        glob.escape(str(path)),
        columns={"line": "VARCHAR"},
        auto_detect=False,
        header=False,
        delimiter=BREAK,
        quotechar="",
        escapechar="",
        hive_partitioning=False,
        compression=packing(path) or "none",
    )


def _check_lengths(connection: Any, layout: Layout, name: str) -> None:
    """Empty lines are allowed at the end alone."""
    numbered = (
        "SELECT row_number() OVER () AS row, line, coalesce(length(line), 0) AS size FROM lines"
    )
    last, first = connection.con.execute(
        f"SELECT max(row) FILTER (size > 0), min(row) FILTER (size <> {layout.length}) "
        f"FROM ({numbered})"
    ).fetchone()
    if last is None:
        raise DataError(f"{name} is empty; it needs at least one record.")
    if first is None or first > last:
        return
    (size,) = connection.con.execute(
        f"SELECT size FROM ({numbered}) WHERE row = {first}"
    ).fetchone()
    more = " Describe the rest by a field without a name." if size > layout.length else ""
    raise DataError(
        f"line {first:,} of {name} has {size:,} characters where the layout has "
        f"{layout.length:,}; repair that line, or the layout.{more}"
    )
