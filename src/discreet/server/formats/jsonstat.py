"""JSON-stat 2.0 (https://json-stat.org/full/), a response of the class dataset."""

from __future__ import annotations

from typing import Any

from discreet.server.formats.citing import citation, heading
from discreet.server.formats.plain import about
from discreet.server.showing.catalogue import Published


def as_json_stat(table: Published, base: str = "", publisher: str = "") -> dict[str, Any]:
    words = table.dataset.words
    notes = [*([table.dataset.note] if table.dataset.note else []), *words.about.notes]
    areas = [name for name in table.names if words.variable(name).map is not None]
    return {
        "version": "2.0",
        "class": "dataset",
        **({"note": notes} if notes else {}),
        "label": heading(table),
        "source": citation(table, base, publisher),
        "updated": table.at,
        **({"role": {"geo": areas}} if areas else {}),
        "id": list(table.names),
        "size": list(table.counts.shape),
        "dimension": {
            name: _dimension(table, name, categories)
            for name, categories in zip(table.names, table.categories, strict=True)
        },
        "value": table.counts.ravel().tolist(),
        "extension": {
            "where": dict(table.where),
            "entry": table.entry,
            "levels": dict(table.levels),
            "about": about(table),
            **({"perturbed": True} if table.perturbed is not None else {}),
        },
    }


def _dimension(table: Published, name: str, categories: tuple[str, ...]) -> dict[str, Any]:
    words = table.dataset.words.variable(name)
    return {
        "label": table.dataset.words.title(name),
        **({"note": [words.description]} if words.description else {}),
        "category": {
            "index": list(categories),
            "label": {category: category for category in categories},
        },
        **({"extension": {"unit": words.unit}} if words.unit else {}),
    }
