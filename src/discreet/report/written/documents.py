"""Tables as JSON, and as JSON-stat 2.0 (https://json-stat.org/full/)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.report.written.shown import Shown


def as_bytes(content: object) -> bytes:
    return (json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()


def all_json(tables: Sequence[Shown], record: Mapping[str, Any]) -> bytes:
    """The record, and in it each table's `values` in row-major order, null where hidden."""
    told = dict(record)
    told["tables"] = [
        {**said, "values": table.numbers()}
        for said, table in zip(record["tables"], tables, strict=True)
    ]
    return as_bytes(told)


def json_stat(table: Shown, symbol: str) -> dict[str, Any]:
    """A dataset; hidden cells are null and their status is the symbol."""
    sheet, numbers = table.sheet, table.numbers()
    hidden = {str(place): symbol for place, one in enumerate(numbers) if one is None}
    where = {g.name: g.labels[0] for g in sheet.where}
    return {
        "version": "2.0",
        "class": "dataset",
        "label": table.title,
        "id": list(sheet.names),
        "size": list(sheet.shape),
        "dimension": {
            g.name: {
                "label": g.name,
                "category": {"index": list(g.labels), "label": {one: one for one in g.labels}},
            }
            for g in sheet.groupings
        },
        "value": numbers,
        **({"status": hidden} if hidden else {}),
        "extension": {"table": sheet.name, "measure": str(sheet.measure), "where": where},
    }


def json_stats(tables: Sequence[Shown], symbol: str) -> bytes:
    """A dataset, or a collection of them."""
    found = [json_stat(table, symbol) for table in tables]
    if len(found) == 1:
        return as_bytes(found[0])
    return as_bytes(
        {"version": "2.0", "class": "collection", "label": "Tables", "link": {"item": found}}
    )
