"""Tables as an Excel workbook: contents, then a sheet a table, lines down and across.

Text is written as text, so nothing in it is taken for a formula, a number or a link.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from datetime import datetime
from itertools import product
from typing import Any

from discreet.errors import OutputError
from discreet.report.written.manifest import MEANING
from discreet.report.written.shown import Shown
from discreet.sheets.grouping import Grouping

MOST_ROWS, MOST_COLUMNS, LONGEST, WIDEST = 1_048_576, 16_384, 32_767, 40
CONTENTS = "Contents"
TOP = 4  # rows above the lines: title, method, blank, head
MADE = datetime(2000, 1, 1)  # the same file each time
AS_TEXT = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_numbers": False,
    "strings_to_urls": False,
}


def workbook(tables: Sequence[Shown], symbol: str) -> bytes:
    import xlsxwriter

    sink = io.BytesIO()
    book = xlsxwriter.Workbook(sink, AS_TEXT)
    book.set_properties({"title": "Tables", "created": MADE})
    names = sheet_names([table.sheet.name for table in tables])
    styles = _Styles(book)
    _contents(book.add_worksheet(CONTENTS), tables, names, symbol, styles)
    for name, table in zip(names, tables, strict=True):
        _table(book.add_worksheet(name), table, symbol, styles)
    book.close()
    return sink.getvalue()


def sheet_names(names: Sequence[str]) -> list[str]:
    """As Excel allows them: 31 letters, none of []:*?/\\, no two alike.

    >>> sheet_names(["1", "a/b", "contents", "A:b"])
    ['1', 'a_b', 'contents_3', 'A_b_4']
    """
    found: list[str] = []
    taken = {CONTENTS.casefold(), "history"}
    for place, name in enumerate(names, 1):
        kept = re.sub(r"[\[\]:*?/\\\x00-\x1f]", "_", name).strip("' ")[:31] or "table"
        while kept.casefold() in taken:
            kept = f"{kept[: 30 - len(str(place))]}_{place}"
        taken.add(kept.casefold())
        found.append(kept)
    return found


class _Styles:
    """Formats by what a cell is, made once."""

    def __init__(self, book: Any) -> None:
        self.book, self.made = book, dict[tuple[tuple[str, object], ...], Any]()

    def __call__(self, **wanted: object) -> Any:
        key = tuple(sorted(wanted.items()))
        if key not in self.made:
            self.made[key] = self.book.add_format(dict(wanted))
        return self.made[key]


def _contents(
    page: Any, tables: Sequence[Shown], names: Sequence[str], symbol: str, styles: _Styles
) -> None:
    head, wrap = styles(bold=True, bottom=1), styles(text_wrap=True, valign="top")
    for place, text in enumerate(("table", "title", "shows", "method")):
        page.write_string(0, place, text, head)
    for row, (name, table) in enumerate(zip(names, tables, strict=True), 1):
        page.write_string(row, 0, name, wrap)
        page.write_string(row, 1, table.title[:LONGEST], wrap)
        page.write_string(row, 2, str(table.sheet.measure)[:LONGEST], wrap)
        page.write_string(row, 3, table.method[:LONGEST], wrap)
    page.write_string(len(tables) + 2, 0, symbol)
    page.write_string(len(tables) + 2, 1, MEANING)
    for place, width in enumerate((16, 80, 30, 30)):
        page.set_column(place, place, width)


def _table(page: Any, table: Shown, symbol: str, styles: _Styles) -> None:
    sheet, number = table.sheet, _pattern(table)
    down, over = (
        (sheet.groupings[:-1], sheet.groupings[-1:])
        if len(sheet.shape) > 1
        else (
            sheet.groupings,
            (),
        )
    )
    height, width = len([*product(*(range(len(g)) for g in down))]), len(over[0]) if over else 1
    if height + TOP > MOST_ROWS or width + len(down) > MOST_COLUMNS:
        raise OutputError(
            f"table {sheet.name!r} has {height:,} lines by {width:,} columns, more than a sheet of "
            "Excel holds; write csv."
        )
    page.write_string(0, 0, table.title[:LONGEST], styles(bold=True))
    page.write_string(1, 0, _about(table, symbol))
    left = len(down)
    for place, grouping in enumerate(down):
        page.write_string(TOP - 1, place, grouping.name, styles(bold=True, bottom=1))
    if over:
        page.write_string(TOP - 2, left, over[0].name, styles(bold=True))
        for place, label in enumerate(over[0].labels):
            head = styles(bold=True, bottom=1, align="right")
            page.write_string(TOP - 1, left + place, label[:LONGEST], head)
    else:
        page.write_string(TOP - 1, left, table.column, styles(bold=True, bottom=1, align="right"))
    tops = [_totals(grouping) for grouping in (*down, *over)]
    numbers = table.numbers()
    for line, lines in enumerate(product(*(range(len(g)) for g in down))):
        row = TOP + line
        for place, (at, grouping) in enumerate(zip(lines, down, strict=True)):
            one = grouping.lines[at]
            style = styles(bold=tops[place][at], indent=min(one.depth, 15))
            page.write_string(row, place, one.label[:LONGEST], style)
        for place in range(width):
            value = numbers[line * width + place]
            bold = any(t[at] for t, at in zip(tops, (*lines, place), strict=False))
            if value is None:
                page.write_string(row, left + place, symbol, styles(bold=bold, align="right"))
            else:
                style = styles(bold=bold, num_format=number)
                page.write_number(row, left + place, value, style)
    page.freeze_panes(TOP, left)
    for place, grouping in enumerate(down):
        longest = max(len(x.label) + 2 * x.depth for x in grouping.lines)
        page.set_column(place, place, min(WIDEST, max(longest, len(grouping.name)) + 3))
    page.set_column(left, left + width - 1, 12)


def _about(table: Shown, symbol: str) -> str:
    hidden = f" {symbol}: {MEANING}." if any(one is None for one in table.numbers()) else ""
    kept = "".join(f", {g.name}: {g.labels[0]}" for g in table.sheet.where)
    return f"{table.sheet.measure}{kept}. Method: {table.method}.{hidden}"[:LONGEST]


def _pattern(table: Shown) -> str:
    if table.whole or table.decimals == 0:
        return "#,##0"
    return "General" if table.decimals is None else f"#,##0.{'0' * table.decimals}"


def _totals(grouping: Grouping) -> list[bool]:
    """Which lines are the total of others."""
    return [len(x.codes) == grouping.variable.size and len(grouping) > 1 for x in grouping.lines]
