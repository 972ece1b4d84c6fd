"""Small files of numbers: one for each name, or a matrix."""

from __future__ import annotations

import csv
import json
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import DataError


@dataclass(frozen=True)
class Pairs:
    """Numbers by name, and what the numbers are called."""

    called: str
    numbers: dict[str, float]


def read_pairs(path: str | Path) -> Pairs:
    """A CSV file of two columns, or a TOML or JSON file with one table of names and numbers.

    The second column's heading, or the table's name, says what the numbers are.
    """
    name = repr(Path(path).name)
    suffix = Path(path).suffix.lower()
    if suffix in (".toml", ".json"):
        return _of_document(_document(Path(path), suffix), name)
    rows = read_rows(path)
    if len(rows[0]) != 2:
        raise DataError(f"{name} has {len(rows[0])} columns; it needs a name and a number.")
    found: dict[str, float] = {}
    for line, row in enumerate(rows[1:], 2):
        if row[0] in found:
            raise DataError(f"{name} names {row[0]!r} twice; list it once.")
        found[row[0]] = _number(row[1], f"line {line} of {name}")
    return Pairs(rows[0][1].lower(), found)


def read_matrix(path: str | Path) -> tuple[list[str], list[str], list[list[float]]]:
    """A CSV file: names of columns in its first line, then a name and numbers a line."""
    rows, name = read_rows(path), repr(Path(path).name)
    figures = [
        [_number(text, f"line {line} of {name}") for text in row[1:]]
        for line, row in enumerate(rows[1:], 2)
    ]
    return [row[0] for row in rows[1:]], rows[0][1:], figures


def read_rows(path: str | Path) -> list[list[str]]:
    """A CSV file: its heading and at least one line, all of one length."""
    name = repr(Path(path).name)
    with _opened(Path(path)) as file:
        try:
            rows = [[text.strip() for text in row] for row in csv.reader(file) if row]
        except (UnicodeDecodeError, csv.Error) as error:
            raise DataError(f"{name} is no CSV file in UTF-8: {error}.") from None
    if len(rows) < 2:
        raise DataError(f"{name} has no numbers; it needs a heading and at least one line.")
    for line, row in enumerate(rows[1:], 2):
        if len(row) != len(rows[0]):
            raise DataError(
                f"line {line} of {name} has {len(row)} fields where the heading has {len(rows[0])}."
            )
    return rows


def _opened(path: Path) -> Any:
    try:
        return open(path, encoding="utf-8-sig", newline="")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"cannot read {str(path)!r}: {reason}.") from None


def _document(path: Path, suffix: str) -> object:
    with _opened(path) as file:
        try:
            text = file.read()
            return tomllib.loads(text) if suffix == ".toml" else json.loads(text)
        except ValueError as error:  # of Unicode, TOML and JSON alike
            raise DataError(f"cannot read {path.name!r}: {error}.") from None


def _of_document(document: object, name: str) -> Pairs:
    if not isinstance(document, dict) or not document:
        raise DataError(f"{name} holds no names with numbers; write one table of them.")
    called, listed = "probability", document
    if len(document) == 1 and isinstance(next(iter(document.values())), dict):
        called, listed = next(iter(document.items()))
    numbers = {k: _number(v, f"{k!r} of {name}") for k, v in listed.items()}
    return Pairs(str(called).lower(), numbers)


def _number(value: object, where: str) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{where} has {value!r} where a number is needed.")
    return number
