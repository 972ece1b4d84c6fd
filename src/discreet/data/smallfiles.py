"""Small files that people write: texts, TOML, CSV, numbers by name, matrices of numbers."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import DataError, DisclosureError, reason
from discreet.look.words import plural

BETWEEN = ",;\t|"


def read_text(
    path: str | Path, called: str = "", error: type[DisclosureError] = DataError, named: str = ""
) -> str:
    """In UTF-8; `called` says what it is, as in "the codebook ", `named` where its name stands."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        name = f"{called}{Path(path).name!r}{named}"
        raise error(f"{name} is not UTF-8; save it as UTF-8.") from None
    except (OSError, ValueError) as why:
        shown = f"{called}{str(path)!r}{named}".rstrip(",")
        raise error(f"cannot read {shown}: {reason(why)}; check the path.") from None


def read_toml(
    path: str | Path, called: str = "", error: type[DisclosureError] = DataError
) -> dict[str, Any]:
    text = read_text(path, called, error)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as why:
        raise error(f"{called}{Path(path).name!r} is not TOML: {why}; repair that place.") from None


def read_json(path: str | Path) -> Any:
    """A key that is said twice, with two values, is refused."""
    text, name = read_text(path), repr(Path(path).name)

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found and found[key] != value:
                both = f"{found[key]!r:.40} and {value!r:.40}"
                raise DataError(f"{name} has {key!r} twice, as {both}; keep one.")
            found[key] = value
        return found

    try:
        return json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError) as why:
        raise DataError(f"{name} is not JSON: {why}; repair that place.") from None


@dataclass(frozen=True)
class Csv:
    """The heading of a CSV file and the lines below it, each with its place; all of one length."""

    name: str
    heading: list[str]
    lines: list[tuple[str, list[str]]]

    def rows(self) -> list[tuple[str, dict[str, str]]]:
        """Each line by the names of its columns."""
        return [(at, dict(zip(self.heading, line, strict=True))) for at, line in self.lines]


def read_csv(
    path: str | Path,
    called: str = "",
    error: type[DisclosureError] = DataError,
    *,
    named: str = "",
    between: str | None = None,
    empty: bool = False,
) -> Csv:
    """`between` separates fields, else what is most frequent in the heading; with `empty`, lines
    of empty fields count."""
    text = read_text(path, called, error, named)
    return as_csv(text, f"{called}{Path(path).name!r}{named}", error, between=between, empty=empty)


def as_csv(
    text: str,
    name: str,
    error: type[DisclosureError] = DataError,
    *,
    between: str | None = None,
    empty: bool = False,
) -> Csv:
    found = [
        (f"line {line} of {name}", fields)
        for line, fields in split_csv(text, name, error, between or separator(text.lstrip()))
        if (fields if empty else any(fields))
    ]
    if not found:
        raise error(f"{name} is empty; it needs a heading and at least one line.")
    heading = found[0][1]
    for at, fields in found[1:]:
        if len(fields) != len(heading):
            raise error(
                f"{at} has {plural(len(fields), 'field')} where its heading has {len(heading)}; "
                "repair that line."
            )
    if len(found) < 2:
        raise error(f"{name} has no line below its heading; it needs at least one.")
    return Csv(name, heading, found[1:])


def separator(text: str, lines: int = 1) -> str:
    """What separates the fields of the first lines."""
    first = "".join(text.splitlines(keepends=True)[:lines])
    return max(BETWEEN, key=re.sub(r'"[^"]*"', "", first).count)


def split_csv(
    text: str, name: str, error: type[DisclosureError], between: str
) -> list[tuple[int, list[str]]]:
    """The fields of every line, trimmed, and where it ends."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=between, strict=True)
    try:
        return [(reader.line_num, [one.strip() for one in fields]) for fields in reader]
    except csv.Error as why:
        raise error(
            f"line {reader.line_num} of {name} is no line of CSV ({why}); repair that line."
        ) from None


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
        return _of_document(read_toml(path) if suffix == ".toml" else read_json(path), name)
    found = read_csv(path)
    if len(found.heading) != 2:
        raise DataError(f"{name} has {len(found.heading)} columns; it needs a name and a number.")
    check_once((row[0] for _, row in found.lines), name)
    return Pairs(
        found.heading[1].lower(), {row[0]: as_number(row[1], at) for at, row in found.lines}
    )


def read_matrix(path: str | Path) -> tuple[list[str], list[str], list[list[float]]]:
    """A CSV file: names of columns in its first line, then a name and numbers a line."""
    found = read_csv(path)
    figures = [[as_number(text, at) for text in row[1:]] for at, row in found.lines]
    return [row[0] for _, row in found.lines], found.heading[1:], figures


def check_once(names: Iterable[str], where: str) -> None:
    if (twice := first_twice(names)) is not None:
        raise DataError(f"{where} names {twice!r} twice; list it once.")


def first_twice(values: Iterable[str]) -> str | None:
    """The first that was there before."""
    seen: set[str] = set()
    return next((value for value in values if value in seen or seen.add(value)), None)  # type: ignore[func-returns-value]


def _of_document(document: object, name: str) -> Pairs:
    if not isinstance(document, dict) or not document:
        raise DataError(f"{name} holds no names with numbers; write one table of them.")
    called, listed = "probability", document
    if len(document) == 1 and isinstance(next(iter(document.values())), dict):
        called, listed = next(iter(document.items()))
    numbers = {k: as_number(v, f"{k!r} of {name}") for k, v in listed.items()}
    return Pairs(str(called).lower(), numbers)


def as_number(value: object, where: str) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{where} has {value!r} where a number is needed.")
    return number
