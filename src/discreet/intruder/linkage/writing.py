"""Intruders as TOML files, with what became of each source record in a CSV file beside."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.data.files import whole, write_text
from discreet.data.frames import label
from discreet.intruder.linkage.model import By
from discreet.intruder.linkage.reading import MAY_HAVE, SAID_ONCE

if TYPE_CHECKING:
    from discreet.intruder.linkage.model import Intruder, Key, Stated

DEFAULTS: dict[str, Any] = {"keep": 1.0, "weights": (1.0,), "suppressed": 0.0, "missing": "any"}
DEFAULTS |= {"log": False}


def write_intruder(intruder: Intruder, path: Path) -> None:
    """The TOML file, and a CSV file of the same name with a column for each `seen`."""
    beside = path.with_name(f"{path.stem}-seen.csv")
    said: dict[str, Any] = {
        "population": intruder.population,
        "present": intruder.present,
        "lose": intruder.lose,
        "top": intruder.top,
    }
    if intruder.wrong is not None:
        said["losses"] = {"wrong": intruder.wrong, "missed": intruder.missed}
    said["keys"] = {key.name: _said(key, beside.name) for key in intruder.keys}
    kinds: list[dict[str, Any]] = [{"share": one.share} for one in intruder.types]
    for entry, one in zip(kinds, intruder.types, strict=True):
        if one.keys:
            own = {name: _said(key, beside.name) for name, key in one.keys.items()}
            entry["keys"] = {
                name: {k: v for k, v in key.items() if k not in {"kind", *SAID_ONCE}}
                for name, key in own.items()
            }
    said["types"] = kinds
    said["correlation"] = [
        {"keys": list(pair), "value": _by(value) if isinstance(value, By) else value}
        for pair, value in intruder.correlation.items()
    ]
    lines = [f"{_name(k)} = {_value(v)}\n" for k, v in said.items() if v not in (None, [])]
    write_text(path, "".join(lines))
    _write_seen([key for key in intruder.keys if key.seen is not None], beside)


def _said(key: Key, beside: str) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": str(key.kind)}
    for name in sorted(MAY_HAVE[key.kind]):
        value = beside if name == "seen" and key.seen is not None else getattr(key, name)
        if value is not None and value != () and value != DEFAULTS.get(name):
            found[name] = value
    if key.personal:
        return found | _personal(key, beside)
    if key.continuous:
        found["spread"] = list(key.spread) if key.spread else "estimated"
        found["weights"] = list(key.weights)
        if not key.spread:
            del found["weights"]
    for name in {"cuts", "labels"} & MAY_HAVE[key.kind] if key.labels else ():
        found[name] = list(getattr(key, name))
    if str(key.kind) == "suppressed":
        found["suppressed"] = key.suppressed
    return found


def _personal(key: Key, beside: str) -> dict[str, Any]:
    """What differs by respondent, and its law."""
    found: dict[str, Any] = {}
    if key.spread is not None:
        found["spread"] = key.spread[0]
    if key.spread_by is not None:
        found["spread"] = _by(key.spread_by)
    if key.density is not None:
        found["density"] = dict(zip(("at", "is"), key.density, strict=True))
    if key.sources:
        found["sources"] = [_stated(one) for one in key.sources]
    if key.of is not None:
        found["of"] = {label: _said(one, beside) for label, one in key.of.items()}
    return found


def _stated(one: Stated) -> dict[str, Any]:
    spread = _by(one.spread) if isinstance(one.spread, By) else one.spread
    found: dict[str, Any] = {"column": one.column, "kind": str(one.kind), "spread": spread}
    if one.density is not None:
        found["density"] = dict(zip(("at", "is"), one.density, strict=True))
    return found


def _by(given: By) -> dict[str, Any]:
    found: dict[str, Any] = {"column": given.column}
    return found if given.values is None else found | {"values": dict(given.values)}


def _write_seen(keys: list[Key], path: Path) -> None:
    """One column a key, and one more that says no where a record is never released."""
    columns: dict[str, list[str]] = {}
    for key in keys:
        seen = [] if key.seen is None else list(key.seen)
        columns[key.name] = [label(one) for one in seen]
        if any(one is None for one in seen):
            columns[f"{key.name} released"] = ["no" if one is None else "yes" for one in seen]
    if columns:
        with whole(path) as new, new.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, quoting=csv.QUOTE_ALL)
            rows.writerow(columns)
            rows.writerows(zip(*columns.values(), strict=True))


def _name(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _value(value: Any) -> str:
    """Of TOML: numbers, texts, lists, and tables in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_name(str(k))} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(one) for one in value)}]"
    return _name(str(value)) if isinstance(value, str) else repr(value)
