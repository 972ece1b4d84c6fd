"""A table as an Excel workbook: the cells, and a sheet that says where they come from.

Text is written as text, so nothing in it is taken for a formula, a number or a link.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from discreet.errors import DisclosureError
from discreet.server.deciding.terms import policy_words
from discreet.server.formats.citing import citation, heading, permanent
from discreet.server.formats.plain import cells, count_column
from discreet.server.showing.catalogue import Published

MOST_ROWS = 1_048_575  # of a sheet, without the head
LONGEST = 32_767  # characters of a cell
WIDEST = 40
AS_TEXT = {
    "in_memory": True,
    "strings_to_formulas": False,
    "strings_to_numbers": False,
    "strings_to_urls": False,
}


def workbook(table: Published, base: str = "", publisher: str = "") -> bytes:
    import xlsxwriter

    if table.counts.size > MOST_ROWS:
        raise DisclosureError(
            f"the table has {table.counts.size:,} cells, more than the {MOST_ROWS:,} rows of a "
            "spreadsheet; take csv or parquet."
        )
    sink = io.BytesIO()
    book = xlsxwriter.Workbook(sink, AS_TEXT)
    book.set_properties({"title": heading(table)[:255], "created": _when(table)})
    bold = book.add_format({"bold": True, "bottom": 1})
    _cells(book.add_worksheet("Table"), table, bold, book.add_format({"num_format": "#,##0"}))
    wrap = book.add_format({"text_wrap": True, "valign": "top"})
    term = book.add_format({"bold": True, "valign": "top"})
    _source(book.add_worksheet("Source"), _facts(table, base, publisher), term, wrap)
    book.close()
    return sink.getvalue()


def _cells(sheet: Any, table: Published, head: Any, number: Any) -> None:
    names = [*table.names, count_column(table)]
    for column, name in enumerate(names):
        sheet.write_string(0, column, name[:LONGEST], head)
    for row, (cell, n) in enumerate(zip(cells(table), table.counts.ravel(), strict=True), 1):
        for column, category in enumerate(cell):
            sheet.write_string(row, column, category[:LONGEST])
        sheet.write_number(row, len(cell), int(n), number)
    sheet.freeze_panes(1, 0)
    sheet.autofilter(0, 0, table.counts.size, len(names) - 1)
    for column, labels in enumerate((*table.categories, (f"{table.total:,}",))):
        longest = max(map(len, (names[column], *labels)))
        sheet.set_column(column, column, min(WIDEST, longest + 3))


def _source(sheet: Any, facts: Iterator[tuple[str, str]], term: Any, wrap: Any) -> None:
    sheet.set_column(0, 0, 24)
    sheet.set_column(1, 1, 100)
    for row, (name, said) in enumerate(facts):
        sheet.write_string(row, 0, name[:LONGEST], term)
        sheet.write_string(row, 1, said[:LONGEST], wrap)


def _facts(table: Published, base: str, publisher: str) -> Iterator[tuple[str, str]]:
    data, about = table.dataset, table.dataset.words.about
    if data.note:
        yield "Note", data.note
    yield "Table", heading(table)
    yield "Citation", citation(table, base, publisher)
    yield "Address", base + permanent(table)
    if table.perturbed is None:
        yield "Published", f"{table.at[:10]}, entry {table.entry} of the ledger {data.slug}"
    for name in ("universe", "period", "source", "contact", "licence"):
        if said := getattr(about, name):
            yield name.capitalize(), said
    for note in about.notes:
        yield "Note", note
    for name in table.names:
        words = data.words.variable(name)
        parts = [words.title, words.description, words.unit and f"Unit: {words.unit}"]
        if any(parts):
            yield name, ". ".join(part.rstrip(".") for part in parts if part) + "."
    vintage = data.previous is not None
    for text in policy_words(
        data.policy, version=data.policy_version, vintage=vintage, searched=data.searched
    ):
        yield "Terms", text


def _when(table: Published) -> datetime:
    """When the table was published: the same file each time."""
    try:
        return datetime.fromisoformat(table.at).replace(tzinfo=None)
    except ValueError:
        return datetime(2000, 1, 1)
