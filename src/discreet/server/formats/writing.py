"""Which formats there are, and a table in one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from discreet.server.formats.jsonstat import as_json_stat
from discreet.server.formats.plain import as_json, csv_bytes, json_bytes, parquet_bytes
from discreet.server.formats.px import px
from discreet.server.formats.sdmx import sdmx_csv
from discreet.server.formats.sheet import workbook
from discreet.server.showing.catalogue import Published


class Format(StrEnum):
    JSON = "json"
    CSV = "csv"
    XLSX = "xlsx"
    PARQUET = "parquet"
    JSON_STAT = "json-stat"
    SDMX_CSV = "sdmx-csv"
    PX = "px"


@dataclass(frozen=True)
class Written:
    """A table as it is sent."""

    body: bytes
    media_type: str
    filename: str | None = None


MEDIA_TYPES = {
    Format.JSON: "application/json",
    Format.CSV: "text/csv; charset=utf-8",
    Format.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    Format.PARQUET: "application/vnd.apache.parquet",
    Format.JSON_STAT: "application/json",
    Format.SDMX_CSV: "application/vnd.sdmx.data+csv; version=2.0.0; charset=utf-8",
    Format.PX: "text/plain; charset=utf-8",
}
SUFFIXES = {
    Format.CSV: "csv",
    Format.XLSX: "xlsx",
    Format.PARQUET: "parquet",
    Format.SDMX_CSV: "sdmx.csv",
    Format.PX: "px",
}
_WRITERS: dict[Format, Callable[[Published, str, str], bytes]] = {
    Format.JSON: lambda table, base, by: json_bytes(as_json(table, base, by)),
    Format.CSV: lambda table, base, by: csv_bytes(table),
    Format.XLSX: workbook,
    Format.PARQUET: parquet_bytes,
    Format.JSON_STAT: lambda table, base, by: json_bytes(as_json_stat(table, base, by)),
    Format.SDMX_CSV: lambda table, base, by: sdmx_csv(table),
    Format.PX: lambda table, base, by: px(table, base, by),
}


def write(table: Published, format: Format, base: str = "", publisher: str = "") -> Written:
    """The table in a format.

    `base` is the server's address and `publisher` its name, for the citation.
    """
    suffix = SUFFIXES.get(format)
    return Written(
        _WRITERS[format](table, base, publisher),
        MEDIA_TYPES[format],
        f"{file_name(table)}.{suffix}" if suffix else None,
    )


def file_name(table: Published) -> str:
    """Letters and digits only."""
    parts = (table.dataset.slug, *table.names)
    return "-".join(_plain(part) for part in parts)[:100]


def _plain(text: str) -> str:
    kept = "".join(c if c.isascii() and c.isalnum() else "_" for c in text)
    return kept or "_"
