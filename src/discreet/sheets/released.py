"""Tables that are out, read back from the folder of their release."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.data.codebook import Variable
from discreet.errors import CodebookError, DataError, InconsistentRelease
from discreet.sheets.columns import Floats, fields, filled, long_cells
from discreet.sheets.grouping import Bools, Grouping, Line
from discreet.sheets.labels import lines_of
from discreet.sheets.listed import near
from discreet.sheets.sheet import Measure, Sheet, Status
from discreet.sheets.system import System

MANIFEST, FORMAT, VERSION = "manifest.json", "discreet release", 1
READ = (("csv", "long"), ("csv", "wide"), ("json-stat", ""))  # in this order


class Released(NamedTuple):
    """Sheets that are out, what each prints, and where it hides."""

    sheets: tuple[Sheet, ...]
    values: tuple[Floats, ...]
    hidden: tuple[Bools, ...]

    def on(self, system: System) -> Floats:
        """What is out of the rows of a system that has these sheets; nan where nothing is."""
        found = np.full(system.cells, np.nan)
        for sheet, values in zip(self.sheets, self.values, strict=True):
            rows = system.places[system.sheets.index(sheet)].ravel()
            both = ~np.isnan(found[rows]) & ~np.isnan(values.ravel())
            differ = both & (np.abs(found[rows] - values.ravel()) > 0)
            if differ.any():
                cell = sheet.label(int(np.argmax(differ)))
                raise InconsistentRelease(
                    f"{cell} of table {sheet.name!r} is out with two values; judge their releases "
                    "one by one."
                )
            found[rows] = np.where(np.isnan(values.ravel()), found[rows], values.ravel())
        return found


def read_released(folder: str | Path, variables: Iterable[Variable]) -> Released:
    """The tables of a release, from its manifest and its files as they were written.

    >>> from tempfile import TemporaryDirectory
    >>> from discreet.decision.batch.masking import mask
    >>> from discreet.sheets.reading import formula_sheets
    >>> from discreet.table.load import load
    >>> records, sheets = formula_sheets(load("example:tract"), "Race*Gender + Gender*Income")
    >>> with TemporaryDirectory() as folder:
    ...     _ = mask(records, sheets).write(Path(folder) / "2026")
    ...     out = read_released(Path(folder) / "2026", records.variables)
    >>> [(sheet.name, int(hidden.sum())) for sheet, hidden in zip(out.sheets, out.hidden)]
    [('Gender*Race', 4), ('Gender*Income', 0)]
    """
    folder = Path(folder)
    content = read_manifest(folder)
    sheets = sheets_of(content, variables)
    symbol = str(content["symbol"])
    values = [_values(folder, content, sheet, symbol) for sheet in sheets]
    hidden: list[NDArray[np.bool_]] = [np.isnan(one) for one in values]
    return Released(sheets, tuple(values), tuple(hidden))


def read_manifest(folder: str | Path) -> dict[str, Any]:
    """The record of a release."""
    path = Path(folder) / MANIFEST
    shown = repr(str(folder))
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(
            f"{shown} has no {MANIFEST} that can be read ({reason}); name the folder of a release."
        ) from None
    except ValueError:
        raise DataError(
            f"the {MANIFEST} of {shown} is not JSON; write the release again."
        ) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f"the {MANIFEST} of {shown} is not that of a release; name another folder.")
    if content.get("version") != VERSION:
        raise DataError(
            f"the release in {shown} has version {content.get('version')!r}, and {VERSION} is read "
            "here; take the program that wrote it."
        )
    try:
        _check_complete(content)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"the {MANIFEST} of {shown} is incomplete ({error}); write the release again."
        ) from None
    return content


def _check_complete(content: Mapping[str, Any]) -> None:
    """Every key that is read, and what would otherwise go wrong later."""
    _has(content, "symbol symbols record program tables files")
    names = [table["name"] for table in content["tables"]]
    for table in content["tables"]:
        name = table["name"]
        if not isinstance(name, str) or names.count(name) > 1:
            raise ValueError(f"table {name!r} is not one")
        _has(table, "title measure variables where whole decimals exact hidden method parameters")
        Measure(**table["measure"])
        cells = math.prod(len(one["lines"]) for one in table["variables"])
        if not all(type(cell) is int and 0 <= cell < cells for cell in table["hidden"]):
            raise ValueError(f"table {name!r} hides what it has not")
        for one in (*table["variables"], *table["where"]):
            _has(one, "name covers lines")
            for line in one["lines"]:
                _has(line, "label depth adds")
    for file in content["files"]:
        _has(file, "name format layout table sha256")
        if file["table"] is not None and file["table"] not in names:
            raise ValueError(f"file {file['name']!r} is of an unknown table")


def _has(content: Mapping[str, Any], keys: str) -> None:
    for key in keys.split():
        if key not in content:
            raise ValueError(f"there is no {key!r}")


def sheets_of(content: Mapping[str, Any], variables: Iterable[Variable]) -> tuple[Sheet, ...]:
    """The sheets that a manifest describes, over the variables as they are now."""
    known = {variable.name: variable for variable in variables}
    found = []
    for said in content["tables"]:
        at = f"table {said['name']!r} of the release"
        shown = tuple(_grouping(one, known, at) for one in said["variables"])
        where = tuple(_grouping(one, known, at) for one in said["where"])
        measure = Measure(**said["measure"])
        found.append(Sheet(said["name"], shown, measure, where, said["title"], Status.OUT))
    return tuple(found)


def variables_of(content: Mapping[str, Any]) -> list[str]:
    """The names of all variables that a release shows or keeps to."""
    tables = content["tables"]
    return [*dict.fromkeys(g["name"] for t in tables for g in (*t["variables"], *t["where"]))]


def measures_of(content: Mapping[str, Any]) -> list[Measure]:
    """What its tables count or add up, and of whom."""
    given = [table["measure"] for table in content["tables"]]
    names = [field.name for field in dataclasses.fields(Measure)]
    return [*dict.fromkeys(Measure(**{n: one.get(n) for n in names}) for one in given)]


def _grouping(said: Mapping[str, Any], known: Mapping[str, Variable], at: str) -> Grouping:
    name = said["name"]
    if name not in known:
        raise DataError(f"{at} shows the variable {name!r}; {near(name, known)}")
    variable, lines = known[name], []
    for one in said["lines"]:
        if "categories" in one:
            codes = frozenset(variable.code(category) for category in one["categories"])
        else:
            codes = lines_of(variable, [one["label"]], at)[0].codes
        lines.append(Line(one["label"], codes, one["depth"]))
    shown = frozenset().union(*(line.codes for line in lines))
    apart = frozenset().union(*(x.codes for x in lines if len(x.codes) < variable.size))
    if said["covers"] and (len(shown) < variable.size or (apart and apart != shown)):
        lost = variable.categories[min(set(range(variable.size)) - (apart or shown))]
        raise CodebookError(
            f"{at} shows all of {name!r} but not its category {lost!r}; read it with the codebook "
            "that it was made with."
        )
    for place, one in enumerate(said["lines"]):
        if one["adds"] and not adds(lines, place):
            raise CodebookError(
                f"{at} adds up the line {one['label']!r} of {name!r} from those below it, and now "
                "they are others; read it with the codebook that it was made with."
            )
    return Grouping(variable, tuple(lines))


def adds(lines: Sequence[Line], place: int) -> bool:
    """Is a line made of those below it, of which there are some?"""
    below: set[int] = set()
    for line in lines[place + 1 :]:
        if line.depth <= lines[place].depth:
            break
        below |= line.codes
    return below == lines[place].codes


def covers(grouping: Grouping) -> bool:
    """Do its lines hold every category, those below the total too?"""
    size = grouping.variable.size
    below: set[int] = set()
    for line in grouping.lines:
        below |= line.codes if len(line.codes) < size else set()
    return len(below) in (0, size) and bool(grouping.members.any(0).all())


def _values(folder: Path, content: Mapping[str, Any], sheet: Sheet, symbol: str) -> Floats:
    own = [file for file in content["files"] if file["table"] == sheet.name]
    for kind in READ:
        for file in own:
            if (file["format"], file["layout"]) != kind:
                continue
            path = folder / Path(file["name"]).name
            where = repr(path.name)
            _check_hash(path, file["sha256"])
            if kind[0] == "csv":
                rows = fields(path)
                wide = kind[1] == "wide" and len(sheet.shape) > 1
                width = len(sheet.shape) - int(wide)
                cells: Iterator[tuple[Sequence[str], str]] = iter(
                    long_cells(rows, width, across=wide)
                )
            else:
                cells = _stat_cells(json.loads(path.read_text(encoding="utf-8")), sheet, symbol)
            return filled(sheet, cells, (symbol,), where)
    raise DataError(
        f"table {sheet.name!r} is not among the CSV or JSON-stat files of {str(folder)!r}; write "
        "the release with csv."
    )


def _stat_cells(
    content: Mapping[str, Any], sheet: Sheet, symbol: str
) -> Iterator[tuple[Sequence[str], str]]:
    for labels, value in zip(sheet.labels(), content["value"], strict=True):
        yield labels, symbol if value is None else repr(value)


def _check_hash(path: Path, wanted: str) -> None:
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"cannot read {str(path)!r}: {reason}; check the release.") from None
    if found != wanted:
        raise DataError(
            f"{str(path)!r} was changed after it was written; take the file as it was published."
        )
