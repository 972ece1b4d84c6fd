"""A table as JSON, CSV and Parquet."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import product
from typing import Any

import numpy as np

from discreet.server.formats.citing import source
from discreet.server.formats.safe import csv_cells, csv_line
from discreet.server.showing.catalogue import Published


def as_json(table: Published, base: str = "", publisher: str = "") -> dict[str, Any]:
    """`values` are the counts, the last variable running fastest."""
    return {
        "note": table.dataset.note,
        "perturbed": _perturbed(table),
        "dataset": table.dataset.slug,
        "title": table.dataset.title,
        "margin": list(table.names),
        "where": dict(table.where),
        "variables": [
            {
                "name": name,
                "categories": list(categories),
                "title": title,
                "level": table.levels.get(name, 0),
                **_words(table, name),
            }
            for name, title, categories in zip(
                table.names, table.titles, table.categories, strict=True
            )
        ],
        "values": table.counts.ravel().tolist(),
        "total": table.total,
        "source": source(table, base, publisher),
        "about": about(table),
    }


def _perturbed(table: Published) -> dict[str, Any] | None:
    if table.perturbed is None:
        return None
    return {"keeps": [list(margin) for margin in table.perturbed]}


def about(table: Published) -> dict[str, Any]:
    """The data in words."""
    said = asdict(table.dataset.words.about)
    return said | {"notes": list(said["notes"])}


def _words(table: Published, name: str) -> dict[str, str | None]:
    words = table.dataset.words.variable(name)
    return {"description": words.description, "unit": words.unit}


def csv_bytes(table: Published) -> bytes:
    """A line a cell."""
    head = csv_line([*table.names, count_column(table)])
    return (head + csv_cells(table.categories, table.counts.ravel().tolist())).encode()


def parquet_bytes(table: Published, base: str = "", publisher: str = "") -> bytes:
    """A row a cell; source and words are in the metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    places = np.indices(table.counts.shape, np.int32).reshape(len(table.names), -1)
    columns = {
        name: pa.DictionaryArray.from_arrays(pa.array(place), pa.array(categories, pa.string()))
        for name, categories, place in zip(table.names, table.categories, places, strict=True)
    }
    columns[count_column(table)] = pa.array(table.counts.ravel(), pa.int64())
    said = as_json(table, base, publisher)
    variables = [{k: v for k, v in one.items() if k != "categories"} for one in said["variables"]]
    kept = {"source": said["source"], "about": said["about"], "variables": variables}
    if table.perturbed is not None:
        kept["perturbed"] = said["perturbed"]
    metadata = {name: json.dumps(value) for name, value in kept.items()}
    if table.dataset.note is not None:
        metadata["note"] = table.dataset.note
    sink = io.BytesIO()
    pq.write_table(pa.table(columns).replace_schema_metadata(metadata), sink)
    return sink.getvalue()


def json_bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def cells(table: Published) -> Iterator[tuple[str, ...]]:
    """The categories of each cell, the last variable running fastest."""
    return product(*table.categories)


def count_column(table: Published) -> str:
    name = "count" if table.perturbed is None else "perturbed"
    while name in table.names:
        name += "_"
    return name
