"""Workbooks of Excel and OpenDocument: one table a sheet (by calamine)."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.data.frames import label
from discreet.data.labelled import whole_numbers
from discreet.data.source import Source, from_arrow
from discreet.data.workbook import cell_name, check_cells
from discreet.errors import DataError

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
TABLES = True
UNCHECKED = (".xls", ".xlsb")  # whose errors look like empty cells
FULL = {".xls": 65_536}  # rows, else:
ROWS = 1_048_576
ERRORS = ("#N/A", "#DIV/0!", "#REF!", "#VALUE!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "Err:")

Row = list[Any]


def read(path: Path, name: str, table: str | None = None) -> Source:
    import python_calamine as calamine

    try:
        with calamine.CalamineWorkbook.from_path(str(path)) as book:
            sheet, notes = _sheet(book, name, table)
            rows = sheet.to_python(skip_empty_area=False)
            merged = sheet.merged_cell_ranges or []
            title = sheet.name
    except calamine.PasswordError:
        raise DataError(f"{name} has a password; save it without one.") from None
    except (calamine.CalamineError, OSError):
        raise DataError(
            f"cannot read {name}: it is no workbook, or a damaged one; open it in a spreadsheet "
            "program and save it again."
        ) from None
    where = f"sheet {title!r} of {name}"
    rows, first = _area(rows, where)
    found = check_cells(path, title, where)
    start = _header(rows, first, [*merged, *found.merged], where, notes)
    _check_merged([*merged, *found.merged], first[0] + start, where)
    names, body = [label(value) for value in rows[start]], rows[start + 1 :]
    _check_rows(body, (first[0] + start + 1, first[1]), where)
    _check_names(names, body, where)
    suffix = path.suffix.lower()
    if first[0] + len(rows) >= FULL.get(suffix, ROWS):
        notes.append(f"{where} is full to its last row: check that no record was cut off.")
    if suffix in UNCHECKED and any(value == "" for row in body for value in row):
        notes.append(
            f"empty cells of {where} count as missing; in a file {suffix} an error such as #N/A, a "
            "formula that was not computed and a part of a merged cell look the same."
        )
    if found.hidden:
        notes.append(f"{where} has hidden rows, which are read like the others.")
    return _source(names, body, name, notes)


def _source(names: Sequence[str], body: Sequence[Row], name: str, notes: Sequence[str]) -> Source:
    import pyarrow as pa

    if not body:
        raise DataError(f"{name} has no rows; it needs at least one below its header.")
    columns = [_column([row[place] for row in body]) for place in range(len(names))]
    fields = [pa.field(n, column.type) for n, column in zip(names, columns, strict=True)]
    made = pa.Table.from_arrays(columns, schema=pa.schema(fields))
    return replace(from_arrow(made, {}, name), notes=tuple(notes))


def _sheet(book: Any, name: str, wanted: str | None) -> tuple[Any, list[str]]:
    """The sheet that is named, or the only one with something in it."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    sheets = [each for each in book.sheets_metadata if each.typ == SheetTypeEnum.WorkSheet]
    names = [each.name for each in sheets]
    if wanted is not None:
        close = [n for n in names if n.strip().casefold() == wanted.strip().casefold()]
        if wanted not in names and len(close) != 1:
            raise DataError(f"{name} has no sheet {wanted!r}; it has {_listed(names)}.")
        return book.get_sheet_by_name(wanted if wanted in names else close[0]), []
    shown = [each.name for each in sheets if each.visible == SheetVisibleEnum.Visible]
    hidden = [n for n in names if n not in shown and _filled(book, n)]
    full = [n for n in shown if _filled(book, n)]
    if not full:
        more = f"; {_listed(hidden)} is hidden, name it by --table" * bool(hidden)
        raise DataError(f"{name} is empty{more or '; it needs a header and at least one record'}.")
    if len(full) > 1:
        raise DataError(
            f"{name} has the sheets {_listed(full)}; name one by --table, or by table= in Python."
        )
    notes = [f"{name} has hidden sheets, which are not read: {_listed(hidden)}."] * bool(hidden)
    return book.get_sheet_by_name(full[0]), notes


def _filled(book: Any, name: str) -> bool:
    rows = book.get_sheet_by_name(name).iter_rows()
    return any(_there(value) for row in rows for value in row)


def _area(rows: list[Row], where: str) -> tuple[list[Row], tuple[int, int]]:
    """What is filled, without empty rows and columns around it, and where it starts."""
    filled = [place for place, row in enumerate(rows) if any(_there(value) for value in row)]
    if not filled:
        raise DataError(f"{where} is empty; it needs a header and at least one record.")
    rows = rows[filled[0] : filled[-1] + 1]
    used = [any(_there(row[place]) for row in rows) for place in range(len(rows[0]))]
    left, right = used.index(True), len(used) - used[::-1].index(True)
    return [row[left:right] for row in rows], (filled[0], left)


def _header(
    rows: list[Row],
    first: tuple[int, int],
    merged: Sequence[Any],
    where: str,
    notes: list[str],
) -> int:
    """The row of names; lines above it are a title only if nothing else can be meant."""
    start, width = 0, len(rows[0])
    while start < len(rows) and sum(map(_there, rows[start])) < width:
        filled = sum(map(_there, rows[start]))
        below = rows[start + 1] if start + 1 < len(rows) else []
        wide = any(a[0] == b[0] == first[0] + start and a[1] < b[1] for a, b in merged)
        if filled > 1 or (filled == 1 and any(map(_there, below)) and not wide):
            break
        start += 1
    if start == len(rows):
        start = 0
    header = rows[start]
    if not all(map(_there, header)):
        column = cell_name(0, first[1] + [*map(_there, header)].index(False)).rstrip("1")
        raise DataError(
            f"row {first[0] + start + 1} of {where} has no name for column {column}: is it a title "
            "over the table? Leave only the row of names above the records, and name every column."
        )
    numbers = [value for value in header if not isinstance(value, str)]
    if start and numbers:
        raise DataError(
            f"row {first[0] + start + 1} of {where} has {label(numbers[0])!r} where names of "
            "columns are needed; take out the lines above the table."
        )
    if start:
        said = [label(value) for row in rows[:start] for value in row if _there(value)]
        notes.append(f"the lines above the table in {where} are taken as a title: {_listed(said)}.")
    return start


def _check_names(names: Sequence[str], body: Sequence[Row], where: str) -> None:
    """A name that is a value of its own column is a record, or a header that stands twice."""
    for place, name in enumerate(names):
        if any(row[place] == name or label(row[place]) == name for row in body):
            raise DataError(
                f"{name!r} stands over a column of {where} and in it: its first row must be the "
                "names of the columns, and no other."
            )


def _check_merged(merged: Sequence[Any], start: int, where: str) -> None:
    """A merged cell has its value in its first place only."""
    for a, b in merged:
        if b[0] >= start and a != b:
            raise DataError(
                f"cells {cell_name(*a)} to {cell_name(*b)} of {where} are merged; split them and "
                "write the value into each."
            )


def _check_rows(body: Sequence[Row], first: tuple[int, int], where: str) -> None:
    for place, row in enumerate(body):
        if not any(map(_there, row)):
            raise DataError(
                f"row {first[0] + place + 1} of {where} is empty and others follow; leave one "
                "table in a sheet, without empty rows or notes below it."
            )
        for column, value in enumerate(row):
            if isinstance(value, str) and value.startswith(ERRORS):
                at = cell_name(first[0] + place, first[1] + column)
                raise DataError(
                    f"cell {at} of {where} is the error {value}; repair it, or leave it empty."
                )
    if not body or len(body[-1]) < 2:
        return
    last = body[-1]
    alone = isinstance(last[0], str) and sum(map(_there, last)) == 1 and " " in last[0].strip()
    if alone and not any(row[0] == last[0] for row in body[:-1]):
        raise DataError(
            f"row {first[0] + len(body)} of {where} has only {last[0][:40]!r}: is it a note below "
            "the table? Take it out."
        )


def _column(values: Row) -> Any:
    """Numbers, dates, times or truth values if all are; else text."""
    import pyarrow as pa

    known = [value if _there(value) else None for value in values]
    kinds = {type(value) for value in known if value is not None}
    if kinds and kinds <= {int, float}:
        return whole_numbers(pa.array([None if v is None else float(v) for v in known]))
    if kinds == {datetime.date, datetime.datetime}:
        return pa.array([_moment(value) for value in known], pa.timestamp("us"))
    plain = ({bool}, {datetime.date}, {datetime.datetime}, {datetime.time})
    if kinds in plain:
        return pa.array(known)
    return pa.array([None if value is None else label(value) for value in known], pa.string())


def _moment(value: Any) -> Any:
    if value is None or isinstance(value, datetime.datetime):
        return value
    return datetime.datetime.combine(value, datetime.time())


def _there(value: Any) -> bool:
    return value is not None and value != "" and not (isinstance(value, str) and not value.strip())


def _listed(names: Sequence[str], most: int = 8) -> str:
    return ", ".join(map(repr, names[:most])) + (", ..." if len(names) > most else "")
