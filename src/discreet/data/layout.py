"""Where the fields of a fixed-width file stand: a CSV or TOML file, or a DDI codebook.

Positions count from 1. A field without a name is not read; what is not described is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from discreet.data.codebook import Codebook
from discreet.data.smallfiles import Csv, read_csv, read_toml
from discreet.data.source import check_names
from discreet.errors import DataError

BESIDE = (".layout.csv", ".layout.toml", ".xml")
_CALLED = {  # what offices call the columns of a layout
    "name": ("name", "variable", "column", "field"),
    "start": ("start", "begin", "from", "position"),
    "width": ("width", "length", "size"),
    "end": ("end", "to", "stop"),
}
_HOW = "name,start,width"


@dataclass(frozen=True)
class Field:
    """A column: its first character, from 1, and how many it has."""

    name: str
    start: int
    width: int

    @property
    def end(self) -> int:
        return self.start + self.width - 1


@dataclass(frozen=True)
class Layout:
    """The fields of a line, and what else the file says of them.

    >>> Layout((Field("Sex", 1, 1), Field("Age", 2, 3))).length
    4
    """

    fields: tuple[Field, ...]
    codebook: Codebook | None = field(default=None, repr=False)

    @property
    def length(self) -> int:
        """Of a line."""
        return max(part.end for part in self.fields)

    @property
    def named(self) -> tuple[Field, ...]:
        return tuple(part for part in self.fields if part.name)


def find_layout(path: Path, name: str) -> Path:
    """The layout beside a file."""
    places = [path.with_suffix(end) for end in BESIDE]
    found = [place for place in places if place.is_file()]
    if len(found) == 1:
        return found[0]
    if found:
        raise DataError(
            f"{name} has the layouts {' and '.join(repr(place.name) for place in found)} beside "
            f"it; name one, as in {path.name}@{found[0].name}."
        )
    raise DataError(
        f"{name} is of fixed width and has no layout; write {places[0].name!r} beside it with the "
        f"heading {_HOW} and a line for each column, as Sex,1,1, or name a layout: "
        f"{path.name}@FILE."
    )


def read_layout(path: Path) -> Layout:
    """By the end of its name: .csv, .toml, or .xml of DDI."""
    name, suffix = repr(path.name), path.suffix.lower()
    if suffix == ".xml":
        from discreet.data.ddi import read_ddi

        found = read_ddi(path)
        if not found.fields:
            raise DataError(f"{name} says of no variable where it stands; give a layout.")
        return _checked(Layout(found.fields, found.codebook), name)
    if suffix == ".toml":
        return _checked(Layout(_of_document(read_toml(path, "the layout "), name)), name)
    if suffix != ".csv":
        raise DataError(f"the layout {name} must end in .csv, .toml or .xml.")
    return _checked(Layout(_of_rows(read_csv(path, "the layout "), name)), name)


def _of_rows(read: Csv, name: str) -> tuple[Field, ...]:
    heading = [text.lower() for text in read.heading]
    places = {
        key: next((heading.index(text) for text in called if text in heading), None)
        for key, called in _CALLED.items()
    }
    _check_keys({key for key, place in places.items() if place is not None}, name)
    decimals = next((heading.index(t) for t in ("decimals", "decimal") if t in heading), None)
    found = []
    for at, row in read.lines:
        if decimals is not None and row[decimals] not in ("", "0"):
            raise DataError(
                f"{at} has decimals, which are not put into numbers; write the point in the file."
            )
        said = {key: row[place] for key, place in places.items() if place is not None}
        found.append(_field(said, at))
    return tuple(found)


def _of_document(content: Mapping[str, Any], name: str) -> tuple[Field, ...]:
    """[Sex] start = 1 width = 1; or Sex = [1, 1], its first and last character."""
    found = []
    for column, said in content.items():
        where = f"{column!r} of the layout {name}"
        if isinstance(said, list):
            said = dict(zip(("start", "end"), said, strict=False)) if len(said) == 2 else {}
        if not isinstance(said, Mapping):
            raise DataError(f"{where} is {said!r}; write [first, last] or start and width.")
        _check_keys({"name", *said}, name)
        found.append(_field({"name": column, **said}, where))
    return tuple(found)


def _check_keys(keys: set[str], name: str) -> None:
    if not {"name", "start"} <= keys or not {"width", "end"} & keys:
        raise DataError(
            f"the layout {name} needs name, start and width, or name, start and end; write the "
            f"heading {_HOW}."
        )


def _field(said: Mapping[str, Any], where: str) -> Field:
    numbers = {}
    for key in ("start", "width", "end"):
        text = str(said.get(key, "")).strip()
        if text.isascii() and text.isdigit() and int(text) > 0:
            numbers[key] = int(text)
        elif text:
            raise DataError(f"{where} has the {key} {text!r}; give a whole number from 1 on.")
    if "start" not in numbers or not {"width", "end"} & set(numbers):
        raise DataError(f"{where} has no start, or neither width nor end; give them.")
    start = numbers["start"]
    width = numbers.get("width", numbers.get("end", 0) - start + 1)
    if width < 1 or numbers.get("end", start + width - 1) != start + width - 1:
        raise DataError(f"{where} starts at {start} and ends at {numbers['end']}; correct it.")
    return Field(str(said.get("name", "")).strip(), start, width)


def _checked(layout: Layout, name: str) -> Layout:
    if not layout.named:
        raise DataError(f"the layout {name} names no column; give each its name and start.")
    check_names([part.name for part in layout.named], f"the layout {name}")
    _check_apart(layout.named, name)
    return layout


def _check_apart(fields: Sequence[Field], name: str) -> None:
    order = sorted(fields, key=lambda part: part.start)
    for before, after in pairwise(order):
        if after.start <= before.end:
            raise DataError(
                f"{before.name!r} and {after.name!r} share character {after.start} in the layout "
                f"{name}; correct it."
            )
