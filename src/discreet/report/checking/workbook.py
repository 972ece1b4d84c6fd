"""Excel workbooks as the archives they are: every sheet, hidden or not, and every other part."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

from discreet.report.checking.found import Found, Spec

PARTS = re.compile(
    r"\[Content_Types\]\.xml|_rels/\.rels|docProps/(app|core)\.xml|xl/workbook\.xml"
    r"|xl/_rels/workbook\.xml\.rels|xl/styles\.xml|xl/theme/theme1\.xml|xl/sharedStrings\.xml"
    r"|xl/worksheets/sheet\d+\.xml"
)
SHEETS = re.compile(r"xl/worksheets/.+\.xml")
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
PLAIN = re.compile(r"General|[#,]*0(\.0+)?")  # shows every number as it is
MOST = 1 << 30  # bytes of an unpacked part


@dataclass
class _Sheet:
    name: str
    part: str
    state: str
    cells: dict[tuple[int, int], str] = field(default_factory=dict)
    numbers: set[tuple[int, int]] = field(default_factory=set)

    def rows(self) -> list[list[str]]:
        rows: dict[int, dict[int, str]] = {}
        for (row, column), text in self.cells.items():
            rows.setdefault(row, {})[column] = text
        return [[rows[r][c] for c in sorted(rows[r])] for r in sorted(rows)]


def read_workbook(path: Path, specs: Sequence[Spec]) -> Found:
    """The tables in their order behind the sheet of contents; whatever else there is, is said."""
    found = Found()
    with zipfile.ZipFile(path) as book:
        for part in book.namelist():
            if not PARTS.fullmatch(part):
                found.extras.append(f"it has the part {part!r}")
            if book.getinfo(part).file_size > MOST:
                found.extras.append(f"its part {part!r} is too large to be read")
                return found
        names = book.namelist()
        strings = _strings(book) if "xl/sharedStrings.xml" in names else []
        used: set[int] = set()
        sheets = _sheets(book, found)
        for sheet in sheets:
            _fill(book, sheet, strings, used, found)
        if lost := [text for place, text in enumerate(strings) if place not in used]:
            found.extras.append(f"it keeps {len(lost)} texts that no sheet shows")
            found.put_aside("its texts", [lost])
        for part in names:
            if not SHEETS.fullmatch(part) and part.endswith((".xml", ".vml", ".rels")):
                kept = ("xl/styles.xml", "xl/theme/theme1.xml", "xl/sharedStrings.xml")
                if part not in kept:
                    found.put_aside(f"part {part!r}", _words(book, part))
        for code in _number_formats(book) if "xl/styles.xml" in names else []:
            if not PLAIN.fullmatch(code):
                found.extras.append(f"it shows numbers as {code!r}")
    visible = [sheet for sheet in sheets if sheet.state == "visible"]
    for sheet in sheets:
        if sheet.state != "visible":
            found.extras.append(f"it has a hidden sheet {sheet.name!r}")
            found.put_aside(f"the hidden sheet {sheet.name!r}", sheet.rows())
            found.put_aside(f"the hidden sheet {sheet.name!r}", _lined(sheet))
    if len(visible) != len(specs) + 1:
        found.extras.append(f"it has {len(visible)} sheets for {len(specs)} tables and contents")
    if visible:
        first = visible[0]
        if first.numbers:
            found.extras.append(f"sheet {first.name!r} of contents has numbers")
        found.put_aside(f"sheet {first.name!r}", first.rows())
    for sheet, spec in zip(visible[1:], specs, strict=False):
        _table(sheet, spec, found)
    for sheet in visible[len(specs) + 1 :]:
        found.put_aside(f"sheet {sheet.name!r}", [*sheet.rows(), *_lined(sheet)])
    return found


def _lined(sheet: _Sheet) -> Iterator[list[str]]:
    """Each number with the texts of its row and its column, as in a cross-tab."""
    beside: dict[int, list[str]] = {}
    above: dict[int, list[str]] = {}
    for (row, column), text in sheet.cells.items():
        if (row, column) not in sheet.numbers:
            beside.setdefault(row, []).append(text)
            above.setdefault(column, []).append(text)
    for row, column in sorted(sheet.numbers):
        yield [*beside.get(row, ()), *above.get(column, ()), sheet.cells[row, column]]


def _xml(book: zipfile.ZipFile, part: str) -> ElementTree.Element:
    return ElementTree.fromstring(book.read(part))


def _strings(book: zipfile.ZipFile) -> list[str]:
    return [_joined(one) for one in _xml(book, "xl/sharedStrings.xml").iter(f"{MAIN}si")]


def _joined(element: ElementTree.Element) -> str:
    """Its text, with `_x000D_` as the character that it stands for."""
    text = "".join(one.text or "" for one in element.iter(f"{MAIN}t"))
    return re.sub(r"_x([0-9A-Fa-f]{4})_", lambda match: chr(int(match[1], 16)), text)


def _number_formats(book: zipfile.ZipFile) -> list[str]:
    styles = _xml(book, "xl/styles.xml")
    return [one.get("formatCode", "") for one in styles.iter(f"{MAIN}numFmt")]


def _sheets(book: zipfile.ZipFile, found: Found) -> list[_Sheet]:
    relations = {
        one.get("Id"): one.get("Target", "").lstrip("/")
        for one in _xml(book, "xl/_rels/workbook.xml.rels")
    }
    root = _xml(book, "xl/workbook.xml")
    sheets = []
    for one in root.iter(f"{MAIN}sheet"):
        target = relations.get(one.get(RELATION), "")
        part = target if target.startswith("xl/") else f"xl/{target}"
        sheets.append(_Sheet(one.get("name", ""), part, one.get("state", "visible")))
    for one in root.iter(f"{MAIN}definedName"):
        found.extras.append(f"it defines the name {one.get('name')!r}")
        found.put_aside("a defined name", [[one.get("name", ""), one.text or ""]])
    listed = {sheet.part for sheet in sheets}
    for part in book.namelist():
        if SHEETS.fullmatch(part) and part not in listed and "_rels" not in part:
            found.extras.append(f"it has a sheet {part!r} that its book does not list")
            sheets.append(_Sheet(part, part, "unlisted"))
    return sheets


def _fill(
    book: zipfile.ZipFile, sheet: _Sheet, strings: Sequence[str], used: set[int], found: Found
) -> None:
    at = f"sheet {sheet.name!r}"
    root = _xml(book, sheet.part)
    if any(one.get("hidden") in ("1", "true") for one in root.iter(f"{MAIN}col")):
        found.extras.append(f"{at} has hidden columns")
    if any(one.get("hidden") in ("1", "true") for one in root.iter(f"{MAIN}row")):
        found.extras.append(f"{at} has hidden rows")
    for tag in ("headerFooter", "dataValidation", "conditionalFormatting", "hyperlink"):
        if next(root.iter(f"{MAIN}{tag}"), None) is not None:
            found.extras.append(f"{at} has a {tag}")
            words = [t for one in root.iter(f"{MAIN}{tag}") for t in one.itertext()]
            found.put_aside(f"{tag} of {at}", [words])
    for cell in root.iter(f"{MAIN}c"):
        place = _place(cell.get("r", "A1"))
        kind, value = cell.get("t", "n"), cell.find(f"{MAIN}v")
        if cell.find(f"{MAIN}f") is not None:
            found.extras.append(f"{at} has a formula in {cell.get('r')}")
        if kind == "inlineStr":
            text = _joined(cell)
        elif value is None or value.text is None:
            continue
        elif kind == "s":
            number = int(value.text)
            used.add(number)
            text = strings[number]
        else:
            text = value.text
            if kind == "n":
                sheet.numbers.add(place)
        sheet.cells[place] = text


def _place(name: str) -> tuple[int, int]:
    """`B3` is (3, 2)."""
    letters, digits = re.fullmatch(r"([A-Z]+)(\d+)", name).groups()  # type: ignore[union-attr]
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - 64
    return int(digits), column


def _table(sheet: _Sheet, spec: Spec, found: Found) -> None:
    """Below the first row that begins with the variables down; the last stands across."""
    across = len(spec.names) > 1
    down = spec.names[:-1] if across else spec.names
    left = len(down)
    at = f"sheet {sheet.name!r}"
    rows = sorted({row for row, _ in sheet.cells})
    heads = [row for row in rows if _is_head(sheet, row, down, spec)] if spec.names else rows[-2:]
    if not heads:
        found.extras.append(f"{at} has no head with {', '.join(spec.names)}")
        found.put_aside(at, [*sheet.rows(), *_lined(sheet)])
        return
    head = heads[0]
    width = len(spec.labels[-1]) if across else 1
    height = len([*product(*spec.labels[:left])])
    inside = set()
    for row in range(head + 1, head + 1 + height):
        labels = [sheet.cells.get((row, column), "") for column in range(1, left + 1)]
        for place in range(left + 1, left + width + 1):
            over = [sheet.cells.get((head, place), "")] if across else []
            found.add(spec.name, (*labels, *over), sheet.cells.get((row, place), ""))
        inside |= {(row, column) for column in range(1, left + width + 1)}
    inside |= {(head, column) for column in range(1, left + width + 1)}
    rest = {place for place in sheet.cells if place not in inside}
    if beyond := [p for p in rest if p in sheet.numbers or p[0] > head or p[1] > left + width]:
        found.extras.append(f"{at} has {len(beyond)} cells outside the table")
    for row in sorted({row for row, _ in rest}):
        found.put_aside(at, [[sheet.cells[p] for p in sorted(rest) if p[0] == row]])
        found.put_aside(at, [[sheet.cells[p] for p in sorted(sheet.cells) if p[0] == row]])


def _is_head(sheet: _Sheet, row: int, down: Sequence[str], spec: Spec) -> bool:
    names = tuple(sheet.cells.get((row, place)) for place in range(1, len(down) + 1))
    if names != tuple(down):
        return False
    if len(spec.names) < 2:
        return (row, len(down) + 1) in sheet.cells
    return sheet.cells.get((row, len(down) + 1)) in spec.labels[-1]


def _words(book: zipfile.ZipFile, part: str) -> Iterator[list[str]]:
    """All text and attributes of a part."""
    try:
        root = _xml(book, part)
    except ElementTree.ParseError:
        return
    yield [text for text in root.itertext() if text.strip()]
    yield [value for one in root.iter() for value in one.attrib.values()]
