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
from discreet.server.showing.languages import later


@dataclass(frozen=True)
class Writer:
    """How a format is written, and what is said of it: its title, and what it is good for.

    `write` takes the table, the server's address and its name. Without `suffix` it is shown, not
    saved as a file.
    """

    write: Callable[[Published, str, str], bytes]
    media_type: str
    title: str
    serves: str
    suffix: str | None = None
    binary: bool = False


class Format(StrEnum):
    """Every format, in the order in which a page offers them."""

    CSV = "csv"
    XLSX = "xlsx"
    PARQUET = "parquet"
    JSON = "json"
    JSON_STAT = "json-stat"
    SDMX_CSV = "sdmx-csv"
    PX = "px"

    @property
    def writer(self) -> Writer:
        return WRITERS[self]

    @property
    def media_type(self) -> str:
        return self.writer.media_type


WRITERS = {
    Format.CSV: Writer(
        lambda table, base, by: csv_bytes(table),
        "text/csv; charset=utf-8",
        "CSV",
        later("for spreadsheets"),
        "csv",
    ),
    Format.XLSX: Writer(
        workbook,
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "Excel",
        later("with a sheet about the source"),
        "xlsx",
        binary=True,
    ),
    Format.PARQUET: Writer(
        parquet_bytes,
        "application/vnd.apache.parquet",
        "Parquet",
        later("for data frames"),
        "parquet",
        binary=True,
    ),
    Format.JSON: Writer(
        lambda table, base, by: json_bytes(as_json(table, base, by)),
        "application/json",
        "JSON",
        later("for programs"),
    ),
    Format.JSON_STAT: Writer(
        lambda table, base, by: json_bytes(as_json_stat(table, base, by)),
        "application/json",
        "JSON-stat 2.0",
        later("for statistical software"),
    ),
    Format.SDMX_CSV: Writer(
        lambda table, base, by: sdmx_csv(table),
        "application/vnd.sdmx.data+csv; version=2.0.0; charset=utf-8",
        "SDMX-CSV 2.0",
        later("for exchange between offices"),
        "sdmx.csv",
    ),
    Format.PX: Writer(px, "text/plain; charset=utf-8", "PX", later("for PxWeb and PC-Axis"), "px"),
}


@dataclass(frozen=True)
class Written:
    """A table as it is sent."""

    body: bytes
    media_type: str
    filename: str | None = None


def write(table: Published, format: Format, base: str = "", publisher: str = "") -> Written:
    """The table in a format.

    `base` is the server's address and `publisher` its name, for the citation.
    """
    suffix = format.writer.suffix
    return Written(
        format.writer.write(table, base, publisher),
        format.media_type,
        f"{file_name(table)}.{suffix}" if suffix else None,
    )


def file_name(table: Published) -> str:
    """Letters and digits only."""
    mark = () if table.perturbed is None else ("perturbed",)
    parts = (table.dataset.slug, *mark, *table.names)
    return "-".join(_plain(part) for part in parts)[:100]


def _plain(text: str) -> str:
    kept = "".join(c if c.isascii() and c.isalnum() else "_" for c in text)
    return kept or "_"
