"""What the XML of a workbook tells and a grid of values does not: errors, unsaved formulas."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

from discreet.errors import DataError

Place = tuple[int, int]
CHUNK, LONGEST = 1 << 22, 1 << 16  # bytes read at once, and of one cell
OFFICE = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
CELL = rb"<(?:\w+:)?c\b"
ERROR = re.compile(CELL + rb'([^>]*\bt="e"[^>]*)>')
FORMULA = re.compile(rb"<(?:\w+:)?f[\s>/]")
UNSAVED = re.compile(  # a formula that gave an empty text is t="str"
    CELL
    + rb'(?![^>]*\bt="str")[^>]*>\s*<(?:\w+:)?f\b(?:[^>]*/>|[^<]*</(?:\w+:)?f>)'
    + rb"\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v>\s*</|</(?:\w+:)?c>)"
)
HIDDEN = re.compile(rb'<(?:\w+:)?row\b[^>]*\bhidden="(?:1|true)"')
CALCULATE = re.compile(rb'fullCalcOnLoad="(?:1|true)"')
SPANNED = re.compile(rb'<table:table-cell\b[^>]*number-(?:rows|columns)-spanned="(?!1")\d+"')
EMPTY = re.compile(rb"<table:table-cell\b(?=[^>]*table:formula=)(?![^>]*office:value-type)[^>]*/?>")
ODS_HIDDEN = re.compile(rb'<table:table-row\b[^>]*table:visibility="(?:collapse|filter)"')
UNSAID = (
    "has formulas whose values were not saved; open it in a spreadsheet program, save it, and try "
    "again."
)


@dataclass(frozen=True)
class Found:
    """Merged cells that the grid does not tell, and whether rows are hidden."""

    merged: tuple[tuple[Place, Place], ...] = ()
    hidden: bool = False


def check_cells(path: Path, sheet: str, where: str) -> Found:
    """Refuse errors and formulas without a value, which look like empty cells."""
    suffix = path.suffix.lower()
    if suffix not in (".xlsx", ".xlsm", ".ods") or not zipfile.is_zipfile(path):
        return Found()
    with zipfile.ZipFile(path) as archive:
        if "content.xml" in archive.namelist():
            return _open_document(archive, sheet, where)
        return _excel(archive, sheet, where)


def cell_name(row: int, column: int) -> str:
    """A cell as a sheet calls it.

    >>> cell_name(2, 0), cell_name(0, 27)
    ('A3', 'AB1')
    """
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return f"{letters}{row + 1}"


def _excel(archive: zipfile.ZipFile, sheet: str, where: str) -> Found:
    member = _member(archive, sheet)
    if member is None:
        return Found()
    formulas = unsaved = hidden = False
    with archive.open(member) as file:
        for text in _chunks(file):
            if error := ERROR.search(text):
                at = re.search(rb'\br="([A-Z]+\d+)"', error[1])
                raise DataError(
                    f"cell {at[1].decode() if at else '?'} of {where} is an error, such as #N/A; "
                    "repair it, or leave it empty."
                )
            formulas = formulas or FORMULA.search(text) is not None
            unsaved = unsaved or UNSAVED.search(text) is not None
            hidden = hidden or HIDDEN.search(text) is not None
    if unsaved or (formulas and CALCULATE.search(archive.read("xl/workbook.xml"))):
        raise DataError(f"{where} {UNSAID}")
    return Found(hidden=hidden)


def _member(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """The file of a sheet."""
    try:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    except (KeyError, ElementTree.ParseError):
        return None
    number = next(
        (e.get(OFFICE) for e in book.iter() if e.tag.endswith("}sheet") and e.get("name") == sheet),
        None,
    )
    target = next((e.get("Target") for e in links.iter() if e.get("Id") == number), None)
    if target is None:
        return None
    member = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    return member if member in archive.namelist() else None


def _open_document(archive: zipfile.ZipFile, sheet: str, where: str) -> Found:
    """One file holds all sheets: the part from the sheet's name to the end of its table."""
    text = archive.read("content.xml")
    name = sheet.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    start = text.find(f'table:name="{name}"'.encode())
    if start < 0:
        return Found()
    part = text[start : text.find(b"</table:table>", start)]
    if SPANNED.search(part):
        raise DataError(
            f"{where} has merged cells; split them and write the value into each, or take out the "
            "title over the table."
        )
    if EMPTY.search(part):
        raise DataError(f"{where} {UNSAID}")
    return Found(hidden=ODS_HIDDEN.search(part) is not None)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Pieces that overlap, so that no cell is cut in all of them."""
    before = b""
    while piece := file.read(CHUNK):
        yield before + piece
        before = piece[-LONGEST:]
