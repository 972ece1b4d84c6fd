"""Tables that are out, read back from the folder of their release."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Bools, Floats
from discreet.data.codebook import Variable
from discreet.errors import CodebookError, DataError, InconsistentRelease, near, reason
from discreet.sheets.columns import fields, filled, long_cells
from discreet.sheets.grouping import Grouping, Line
from discreet.sheets.labels import lines_of
from discreet.sheets.sheet import Measure, Sheet, Status
from discreet.sheets.system import System

MANIFEST, FORMAT, VERSION = "manifest.json", "discreet release", 1
READ = (("csv", "long"), ("csv", "wide"), ("json-stat", ""))  # in this order
MOST = 2**53  # whole numbers beyond it are not exact as numbers of JSON
MOST_SHOWN = 60  # letters of a value that is wrong
LONGEST = 255  # bytes of the name of a file
DEEP = 20  # mappings and lists within each other in what an office wrote


class Kind(NamedTuple):
    """What a value of a manifest must be, in words, and whether one is."""

    said: str
    holds: Callable[[Any], bool]


def _is_text(value: object) -> bool:
    """Half a letter cannot be written."""
    return isinstance(value, str) and not any("\ud800" <= one <= "\udfff" for one in value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < MOST


def _is_plain(value: object, deep: int = DEEP) -> bool:
    if isinstance(value, Mapping):
        value = [*value, *value.values()]
    if isinstance(value, list):
        return deep > 0 and all(_is_plain(one, deep - 1) for one in value)
    finite = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return value is None or finite or _is_text(value)


def _one_of(*words: str) -> Kind:
    shown = " or ".join(repr(word) for word in words)
    return Kind(shown, lambda value: isinstance(value, str) and value in words)


def _or_list(kind: Kind) -> Kind:
    """One for all, or one each."""
    return Kind(
        f"{kind.said}, or a list of such",
        lambda value: all(map(kind.holds, value if isinstance(value, list) else [value])),
    )


TEXT = Kind("text", _is_text)
NAME = Kind("a name", lambda value: _is_text(value) and value != "")
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
WHOLE = Kind("a whole number from 0 on", lambda x: type(x) is int and 0 <= x < MOST)
POSITIVE = Kind("a number above 0", lambda value: _is_number(value) and value > 0)
DECIMALS = Kind("null or 0 to 15", lambda x: x is None or (type(x) is int and 0 <= x <= 15))
FILE_NAME = Kind(
    f"a name of at most {LONGEST} bytes",
    lambda x: NAME.holds(x) and "\0" not in x and len(x.encode()) <= LONGEST,
)
OF_TABLE = Kind("null or a name", lambda value: value is None or _is_text(value))
STAYS = Kind("null or 0 to 1", lambda x: x is None or (_is_number(x) and 0 <= x <= 1))
SHARE = Kind("above 0 and at most 1", lambda value: _is_number(value) and 0 < value <= 1)
HASH = Kind(
    "a SHA-256", lambda x: isinstance(x, str) and re.fullmatch("[0-9a-f]{64}", x) is not None
)
MARK = Kind(
    "a fingerprint", lambda x: isinstance(x, str) and re.fullmatch("[0-9a-f]{8,128}", x) is not None
)
LEVELS = Kind(
    "whole numbers by name",
    lambda value: isinstance(value, Mapping) and all(map(WHOLE.holds, value.values())),
)
MEANINGS = Kind(
    "texts by symbol",
    lambda value: isinstance(value, Mapping) and all(map(_is_text, [*value, *value.values()])),
)
PLAIN = Kind(
    f"texts and numbers by name, at most {DEEP} deep",
    lambda value: isinstance(value, Mapping) and _is_plain(value),
)

# What a manifest has, in the shape in which it has it: keys with a question mark may be missing.
LINE = {"label": TEXT, "depth": WHOLE, "adds": FLAG, "categories?": [TEXT]}
VARIABLE = {"name": TEXT, "covers": FLAG, "lines": [LINE]}
MEASURE = {f"{field.name}?": NAME for field in dataclasses.fields(Measure)}
TABLE: dict[str, Any] = {
    "name": TEXT, "title": TEXT, "measure": MEASURE, "variables": [VARIABLE], "where": [VARIABLE],
    "whole": FLAG, "decimals": DECIMALS, "exact": FLAG, "hidden": [WHOLE], "method": TEXT,
    "parameters": PLAIN,
}  # fmt: skip
FILE = {"name": FILE_NAME, "format": TEXT, "layout": _one_of("long", "wide", ""), "table": OF_TABLE}
FILE |= {"sha256": HASH}
RECORD: dict[str, Any] = {
    "format": TEXT, "version": WHOLE, "program": TEXT, "symbol": TEXT, "symbols": MEANINGS,
    "record": PLAIN, "tables": [TABLE], "files": [FILE],
}  # fmt: skip
ROUNDED = {"base": POSITIVE, "trial?": TEXT}
PARAMETERS: dict[str, dict[str, Kind]] = {
    "suppression": {
        "guarantee?": _one_of("width", "unique"), "method?": _one_of("heuristic", "optimal"),
    },
    "merge": {"levels?": LEVELS},
    "perturb": {"kept": TEXT, "silent": FLAG, "drawn": TEXT, "trial?": TEXT},
    "cell key": {
        "D?": WHOLE, "V?": POSITIVE, "js?": WHOLE, "pstay?": _or_list(STAYS),
        "optim?": _or_list(WHOLE), "mono?": _or_list(FLAG), "icat?": _or_list(WHOLE),
        "step?": POSITIVE, "threshold?": SHARE, "secret?": MARK, "top_k?": WHOLE,
        "multiplier?": TEXT, "type?": _one_of("top_contr", "mean", "range", "sum"),
    },
    "controlled rounding": {**ROUNDED, "exceptions?": WHOLE},
    "unbiased controlled rounding": {**ROUNDED, "exceptions?": WHOLE},
    "conventional rounding": ROUNDED,
    "random rounding": ROUNDED,
}  # fmt: skip  # by the methods that masks have


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
        content = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
    except OSError as error:
        raise DataError(
            f"{shown} has no {MANIFEST} that can be read ({reason(error)}); name the folder of a "
            "release."
        ) from None
    except (ValueError, RecursionError):
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
        _check_kinds(content, RECORD)
        _check_whole(content)
    except ValueError as error:
        raise DataError(
            f"the {MANIFEST} of {shown} is incomplete or wrong ({error}); write the release again."
        ) from None
    return content


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number of JSON")


def _check_kinds(value: Any, wanted: Any, at: str = "") -> None:
    """Every value is of its kind, and none is missing; what is more is found by `check`."""
    if isinstance(wanted, Kind):
        if not wanted.holds(value):
            raise ValueError(f"{at} is {_brief(value)}, and must be {wanted.said}")
    elif isinstance(wanted, list):
        if not isinstance(value, list):
            raise ValueError(f"{at} is {_brief(value)}, and must be a list")
        for place, one in enumerate(value):
            _check_kinds(one, wanted[0], f"{at}[{place}]")
    else:
        if not isinstance(value, Mapping):
            raise ValueError(f"{at} is {_brief(value)}, and must have {', '.join(known(wanted))}")
        for key, kind in wanted.items():
            name = key.removesuffix("?")
            here = f"{at}.{name}" if at else name
            if name in value:
                _check_kinds(value[name], kind, here)
            elif name == key:
                raise ValueError(f"there is no {here}")


def known(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The kinds by their keys, of those that may be missing too."""
    return {key.removesuffix("?"): kind for key, kind in wanted.items()}


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def _check_whole(content: Mapping[str, Any]) -> None:
    """What its values say of each other, as far as it would otherwise go wrong later."""
    names = [table["name"] for table in content["tables"]]
    for place, table in enumerate(content["tables"]):
        name = table["name"]
        if names.count(name) > 1:
            raise ValueError(f"two tables are called {name!r}")
        if strange := [key for key in table["measure"] if key not in known(MEASURE)]:
            raise ValueError(f"table {name!r} has the measure {strange[0]!r}")
        at = f"tables[{place}].parameters"
        _check_kinds(table["parameters"], PARAMETERS.get(table["method"], {}), at)
        _check_counts(table)
        if not table["variables"]:
            raise ValueError(f"table {name!r} has no variables")
        cells = math.prod(len(one["lines"]) for one in table["variables"])
        if any(cell >= cells for cell in table["hidden"]):
            raise ValueError(f"table {name!r} hides what it has not")
        for one in (*table["variables"], *table["where"]):
            if any(line.get("categories") == [] for line in one["lines"]):
                raise ValueError(f"a line of {one['name']!r} in table {name!r} has no categories")
    for file in content["files"]:
        if file["table"] is not None and file["table"] not in names:
            raise ValueError(f"file {file['name']!r} is of an unknown table")


def _check_counts(table: Mapping[str, Any]) -> None:
    """People are counted in whole numbers, and rounded to multiples of one."""
    if table["measure"].get("value") or table["measure"].get("weight"):
        return
    base = table["parameters"].get("base", 1) if "rounding" in table["method"] else 1
    if not table["whole"] or not float(base).is_integer():
        raise ValueError(f"table {table['name']!r} counts people, and not in whole numbers")


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
    plain = [one["label"] for one in said["lines"] if "categories" not in one]
    meant = iter(lines_of(variable, plain, at))
    for one in said["lines"]:
        if "categories" in one:
            codes = frozenset(variable.code(category) for category in one["categories"])
        else:
            codes = next(meant).codes
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
        raise DataError(f"cannot read {str(path)!r}: {reason(error)}; check the release.") from None
    if found != wanted:
        raise DataError(
            f"{str(path)!r} was changed after it was written; take the file as it was published."
        )
