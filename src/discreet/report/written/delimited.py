"""Tables as CSV: a line a cell, lines by columns, all in one file, or SDMX-CSV."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from discreet.report.written.safe import codes, csv_line
from discreet.report.written.shown import Shown
from discreet.sheets.columns import ACROSS

AGENCY = "DISCREET"
TAKEN = ("STRUCTURE", "STRUCTURE_ID", "ACTION", "OBS_VALUE", "OBS_STATUS", "CONF_STATUS")
OPEN, HIDDEN = ("A", "F"), ("Q", "C")  # normal and free; missing as suppressed, and confidential


def long_csv(table: Shown, symbol: str) -> bytes:
    """A line a cell."""
    sheet = table.sheet
    head = csv_line([*sheet.names, table.column])
    cells = zip(sheet.labels(), table.texts(symbol), strict=True)
    return (head + "".join(csv_line(labels, [text]) for labels, text in cells)).encode()


def wide_csv(table: Shown, symbol: str) -> bytes:
    """The last variable across: `Region \\ Sector` heads the labels."""
    sheet = table.sheet
    if len(sheet.groupings) < 2:
        return long_csv(table, symbol)
    *down, over = sheet.groupings
    head = [*(g.name for g in down[:-1]), f"{down[-1].name}{ACROSS}{over.name}", *over.labels]
    texts, width = table.texts(symbol), len(over)
    lines = [csv_line(head)]
    for place, labels in enumerate(product(*(g.labels for g in down))):
        lines.append(csv_line(labels, texts[place * width : (place + 1) * width]))
    return "".join(lines).encode()


def all_csv(tables: Sequence[Shown], symbol: str) -> bytes:
    """All tables, a line a cell; a variable that a table lacks is empty."""
    names = list(
        dict.fromkeys(g.name for t in tables for g in (*t.sheet.groupings, *t.sheet.where))
    )
    first, last = "table", "value"
    while first in names:
        first += "_"
    while last in names:
        last += "_"
    lines = [csv_line([first, *names, last])]
    for table in tables:
        kept = {g.name: g.labels[0] for g in table.sheet.where}
        for labels, text in zip(table.sheet.labels(), table.texts(symbol), strict=True):
            own = kept | dict(zip(table.sheet.names, labels, strict=True))
            lines.append(csv_line([table.sheet.name, *(own.get(n, "") for n in names)], [text]))
    return "".join(lines).encode()


def sdmx_csv(table: Shown) -> bytes:
    """SDMX-CSV 2.0 with codes and labels (https://github.com/sdmx-twg/sdmx-csv).

    Hidden cells are empty, OBS_STATUS Q and CONF_STATUS C whyever they are hidden.
    """
    sheet = table.sheet
    structure = f"{AGENCY}:{codes([f'table {sheet.name}'])[0]}(1.0): {_label(table.title)}"
    ids = codes([*TAKEN, *sheet.names])[len(TAKEN) :]
    heads = [f"{code}: {_label(name)}" for code, name in zip(ids, sheet.names, strict=True)]
    lines = [csv_line(["STRUCTURE", "STRUCTURE_ID", "ACTION", *heads, *TAKEN[3:]])]
    labels = [
        [f"{code}: {_label(one)}" for code, one in zip(codes(g.labels), g.labels, strict=True)]
        for g in sheet.groupings
    ]
    for cell, text in zip(product(*labels), table.texts(""), strict=True):
        lines.append(
            csv_line(["dataflow", structure, "I", *cell], [text, *(OPEN if text else HIDDEN)])
        )
    return "".join(lines).encode()


def _label(text: str) -> str:
    """On one line, and without what separates a code from its label."""
    return " ".join(text.split()).replace(": ", " - ")
