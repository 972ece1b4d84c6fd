"""A published table as JSON, CSV, Parquet and JSON-stat 2.0."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import Any

import numpy as np

from discreet.server.catalogue import Published
from discreet.server.views import margin_path, table_address

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets take for a formula


class Format(StrEnum):
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"
    JSON_STAT = "json-stat"


@dataclass(frozen=True)
class Written:
    """A table as it is sent."""

    body: bytes
    media_type: str
    filename: str | None = None


MEDIA_TYPES = {
    Format.JSON: "application/json",
    Format.CSV: "text/csv; charset=utf-8",
    Format.PARQUET: "application/vnd.apache.parquet",
    Format.JSON_STAT: "application/json",
}


def write(table: Published, format: Format, base: str = "") -> Written:
    """The table in a format; `base` is the server's address, for the citation."""
    suffix = {Format.CSV: "csv", Format.PARQUET: "parquet"}.get(format)
    name = "-".join(_plain(part) for part in (table.dataset.slug, *table.names))[:100]
    return Written(
        _WRITERS[format](table, base),
        MEDIA_TYPES[format],
        f"{name}.{suffix}" if suffix else None,
    )


def as_json(table: Published, base: str = "") -> dict[str, Any]:
    """`values` are the counts, the last variable running fastest."""
    return {
        "note": table.dataset.note,
        "dataset": table.dataset.slug,
        "title": table.dataset.title,
        "margin": list(table.names),
        "where": dict(table.where),
        "variables": [
            {"name": name, "categories": list(categories)}
            for name, categories in zip(table.names, table.categories, strict=True)
        ],
        "values": table.counts.ravel().tolist(),
        "total": table.total,
        "source": source(table, base),
    }


def source(table: Published, base: str = "") -> dict[str, Any]:
    """Where a table comes from: the entry of the ledger, and how it is cited."""
    return {
        "dataset": table.dataset.slug,
        "entry": table.entry,
        "at": table.at,
        "citation": citation(table, base),
        "address": base + address(table),
    }


def address(table: Published) -> str:
    """Where the table stays."""
    path = table_address(table.dataset.slug, table.names)
    where = [f"where={margin_path([f'{k}:{v}'])}" for k, v in table.where.items()]
    return path + ("?" + "&".join(where) if where else "")


def citation(table: Published, base: str = "") -> str:
    where = "".join(f", {name} {category}" for name, category in table.where.items())
    return (
        f"{table.dataset.title}: {' by '.join(table.names)}{where}. "
        f"Entry {table.entry} of the ledger {table.dataset.slug}, {table.at[:10]}. "
        f"{base}{address(table)}"
    )


def as_json_stat(table: Published, base: str = "") -> dict[str, Any]:
    """JSON-stat 2.0 (https://json-stat.org/full/), a response of the class dataset."""
    note = table.dataset.note
    return {
        "version": "2.0",
        "class": "dataset",
        **({} if note is None else {"note": [note]}),
        "label": f"{table.dataset.title}: {' by '.join(table.names)}",
        "source": citation(table, base),
        "updated": table.at,
        "id": list(table.names),
        "size": list(table.counts.shape),
        "dimension": {
            name: {
                "label": name,
                "category": {
                    "index": list(categories),
                    "label": {category: category for category in categories},
                },
            }
            for name, categories in zip(table.names, table.categories, strict=True)
        },
        "value": table.counts.ravel().tolist(),
        "extension": {"where": dict(table.where), "entry": table.entry},
    }


def _csv(table: Published, base: str) -> bytes:
    """RFC 4180; what a spreadsheet would take for a formula gets a leading apostrophe."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([_no_formula(name) for name in (*table.names, _count_column(table))])
    for cell, count in zip(_cells(table), table.counts.ravel().tolist(), strict=True):
        writer.writerow([*(_no_formula(label) for label in cell), count])
    return text.getvalue().encode()


def _parquet(table: Published, base: str) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    places = np.indices(table.counts.shape, np.int32).reshape(len(table.names), -1)
    columns = {
        name: pa.DictionaryArray.from_arrays(pa.array(place), pa.array(categories, pa.string()))
        for name, categories, place in zip(table.names, table.categories, places, strict=True)
    }
    columns[_count_column(table)] = pa.array(table.counts.ravel(), pa.int64())
    about = {"source": json.dumps(source(table, base))}
    if table.dataset.note is not None:
        about["note"] = table.dataset.note
    sink = io.BytesIO()
    pq.write_table(pa.table(columns).replace_schema_metadata(about), sink)
    return sink.getvalue()


def _dumps(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


_WRITERS: dict[Format, Callable[[Published, str], bytes]] = {
    Format.JSON: lambda table, base: _dumps(as_json(table, base)),
    Format.CSV: _csv,
    Format.PARQUET: _parquet,
    Format.JSON_STAT: lambda table, base: _dumps(as_json_stat(table, base)),
}


def _cells(table: Published) -> Iterator[tuple[str, ...]]:
    return product(*table.categories)


def _count_column(table: Published) -> str:
    name = "count"
    while name in table.names:
        name += "_"
    return name


def _no_formula(label: str) -> str:
    return f"'{label}" if label.startswith(FORMULA_STARTS) else label


def _plain(text: str) -> str:
    """Letters and digits only: a part of a file's name."""
    kept = "".join(c if c.isascii() and c.isalnum() else "_" for c in text)
    return kept or "_"
