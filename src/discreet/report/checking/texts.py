"""CSV, SDMX-CSV, JSON and JSON-stat files, read as anybody would read them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from discreet.masks.masked import TRIAL
from discreet.report.checking.found import Found, Spec
from discreet.sheets.released import FILE, PARAMETERS, RECORD, TABLE, known

STAT = {"version", "class", "label", "id", "size", "dimension", "value", "status", "extension"}
DIMENSION, CATEGORY = {"label", "category"}, {"index", "label"}
EXTENSION = {"table", "measure", "where"}
CONFIDENTIAL = "C"


def rows_of(path: Path) -> list[list[str]]:
    text = path.read_bytes().decode("utf-8-sig")
    return [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]


def read_csv(path: Path, spec: Spec, layout: str) -> Found:
    """A line a cell, or lines by columns."""
    found, rows = Found(), rows_of(path)
    wide = layout == "wide" and len(spec.names) > 1
    left = len(spec.names) - int(wide)
    head, *body = rows or [[]]
    width = left + (len(spec.labels[-1]) if wide else 1)
    heads = [*spec.names[:-2], " \\ ".join(spec.names[-2:])] if wide else [*spec.names]
    if [one.removeprefix("'") for one in head[:left]] != heads:
        found.extras.append(f"its head is not {', '.join(heads)}")
    found.put_aside("its head", [head] if not wide else [])
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            found.extras.append(f"line {number} has {len(row)} fields instead of {width}")
            found.put_aside(f"line {number}", [row])
    for row in body:
        for place, text in enumerate(row[left:width], left):
            over = [head[place]] if wide and place < len(head) else []
            found.add(spec.name, (*row[:left], *over), text)
    return found


def read_sdmx(path: Path, spec: Spec) -> Found:
    """Each field of a dimension is CODE: label."""
    found, rows = Found(), rows_of(path)
    head, *body = rows or [[]]
    wanted = ["STRUCTURE", "STRUCTURE_ID", "ACTION", *spec.names, "OBS_VALUE"]
    wanted += ["OBS_STATUS", "CONF_STATUS"]
    same = len(head) == len(wanted) and all(
        _plain(one.partition(": ")[2] or one) == _plain(name)
        for one, name in zip(head, wanted, strict=False)
    )
    if not same:
        found.extras.append(f"its head is not {', '.join(wanted)}")
    back = [{_plain(label): label for label in labels} for labels in spec.labels]
    for number, row in enumerate(body, 2):
        if len(row) != len(wanted):
            found.extras.append(f"line {number} has {len(row)} fields instead of {len(wanted)}")
            found.put_aside(f"line {number}", [row])
            continue
        told = [one.partition(": ")[2] for one in row[3:-3]]
        labels = tuple(known.get(_plain(one), one) for known, one in zip(back, told, strict=True))
        found.add(spec.name, labels, row[-3])
        found.aside += [("its names", row[:3])] if ("its names", row[:3]) not in found.aside else []
        if row[-3] and row[-1] == CONFIDENTIAL:
            found.marked.add((spec.name, labels))
    return found


def _plain(text: str) -> str:
    return " ".join(text.split()).replace(": ", " - ")


def read_stat(path: Path, specs: Mapping[str, Spec]) -> Found:
    """A dataset of JSON-stat, or a collection."""
    content = json.loads(path.read_bytes())
    found = Found()
    if content.get("class") == "collection":
        _unknown(content, {"version", "class", "label", "link"}, "the collection", found)
        items = content["link"]["item"]
    else:
        items = [content]
    for item in items:
        name = item.get("extension", {}).get("table")
        if name not in specs:
            found.extras.append(f"it has a dataset {name!r}, which no manifest lists")
            found.put_aside("a dataset", _leaves(item))
            continue
        _dataset(item, specs[name], found)
    return found


def _dataset(item: Mapping[str, Any], spec: Spec, found: Found) -> None:
    at = f"dataset {spec.name!r}"
    _unknown(item, STAT, at, found)
    found.put_aside("its texts", _leaves([item.get("label"), item.get("extension", {})]))
    _unknown(item.get("extension", {}), EXTENSION, f"the extension of {at}", found)
    axes = []
    for name in item["id"]:
        dimension = item["dimension"][name]
        _unknown(dimension, DIMENSION, f"dimension {name!r}", found)
        _unknown(dimension["category"], CATEGORY, f"the categories of {name!r}", found)
        axes.append(
            [str(dimension["category"]["label"][c]) for c in dimension["category"]["index"]]
        )
    values = item["value"]
    status = item.get("status", {})
    for place, labels in enumerate(product(*axes)):
        value = values[place] if isinstance(values, list) else values.get(str(place))
        found.add(spec.name, labels, "" if value is None else _number(value))
        told = status.get(str(place)) if isinstance(status, dict) else status[place]
        if value is not None and told is not None:
            found.marked.add((spec.name, labels))
    if isinstance(values, list) and len(values) > len([*product(*axes)]):
        found.extras.append(f"{at} has more values than cells")


def read_json(path: Path, specs: Mapping[str, Spec], manifest: Mapping[str, Any]) -> Found:
    """The manifest again, with the values of each table."""
    content = json.loads(path.read_bytes())
    found = Found()
    told = {key: one for key, one in content.items() if key not in ("tables", "files")}
    wanted = {key: one for key, one in manifest.items() if key not in ("tables", "files")}
    if told != wanted:
        found.extras.append("its record is not that of the manifest")
        found.put_aside("the record", _leaves(told))
    known = {one["name"]: one for one in manifest["tables"]}
    for table in content["tables"]:
        name = table.get("name")
        about = {key: one for key, one in table.items() if key != "values"}
        if name not in specs or about != known[name]:
            found.extras.append(f"what it says of table {name!r} is not in the manifest")
            found.put_aside(f"table {name!r}", _leaves(about))
        if name in specs:
            for labels, value in zip(product(*specs[name].labels), table["values"], strict=False):
                found.add(name, labels, "" if value is None else _number(value))
            if len(table["values"]) != len([*product(*specs[name].labels)]):
                found.extras.append(f"table {name!r} has {len(table['values'])} values")
    return found


def read_record(manifest: Mapping[str, Any]) -> Found:
    """The manifest: nothing in it may be more than its format has."""
    found = Found()
    _unknown(manifest, RECORD, "it", found)
    for table in manifest["tables"]:
        _unknown(table, TABLE, f"table {table['name']!r}", found)
        _method(table, f"table {table['name']!r}", found)
        found.put_aside("the parameters", _leaves(table["parameters"]))
        found.put_aside("a title", [[table["name"], table["title"]]])
    for file in manifest["files"]:
        _unknown(file, FILE, f"file {file['name']!r}", found)
    found.put_aside("the record", _leaves(manifest["record"]))
    return found


def _method(table: Mapping[str, Any], at: str, found: Found) -> None:
    """How a table was made must be a mask of the program, with parameters that this mask has."""
    method, parameters = table["method"], table["parameters"]
    if method not in PARAMETERS:
        found.extras.append(f"{at} has the method {method!r}, which no mask has")
    for key in parameters:
        if key not in known(PARAMETERS.get(method, {})):
            found.extras.append(f"{at} has the parameter {key!r}, which {method!r} has not")
    if parameters.get("trial", TRIAL) != TRIAL:
        found.extras.append(f"{at} is called {parameters['trial']!r}, and a trial is {TRIAL!r}")


def _number(value: object) -> str:
    return repr(value) if isinstance(value, int | float) else str(value)


def _unknown(content: Mapping[str, Any], format_: Collection[str], at: str, found: Found) -> None:
    for key in content:
        if key not in format_:
            found.extras.append(f"{at} has {key!r}, which is no part of the format")
            found.put_aside(f"{key!r} of {at}", _leaves({key: content[key]}))


def _leaves(value: Any, above: Sequence[str] = ()) -> Iterator[list[str]]:
    """Every innermost value with the keys above it, and every list with its fellows."""
    if isinstance(value, Mapping):
        yield [*above, *(str(x) for pair in value.items() for x in pair if not _nested(x))]
        for key, one in value.items():
            if _nested(one):
                yield from _leaves(one, [*above, str(key)])
    elif isinstance(value, list):
        yield [*above, *(str(one) for one in value if not _nested(one))]
        for one in value:
            if _nested(one):
                yield from _leaves(one, above)
    else:
        yield [*above, str(value)]


def _nested(value: object) -> bool:
    return isinstance(value, Mapping | list)


def read_any(path: Path) -> Found:
    """A file that nobody listed: rows of text, whatever it is."""
    found = Found()
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        return found
    if path.suffix.lower() in (".json", ".jsonstat"):
        try:
            found.put_aside("it", _leaves(json.loads(text)))
            return found
        except ValueError:
            pass
    delimiter = max(",;\t|", key=text.count)
    found.put_aside("it", csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    return found
