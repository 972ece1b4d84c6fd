"""Published tables as people lay them out: lines down, lines across, totals and gaps."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from discreet.arrays import Floats
from discreet.data.codebook import Variable
from discreet.data.frames import label
from discreet.data.smallfiles import read_text, separator, split_csv
from discreet.errors import DataError, near
from discreet.sheets.grouping import Grouping
from discreet.sheets.labels import line_of, lines_of
from discreet.sheets.listed import rows_of
from discreet.sheets.sheet import COUNT, Measure, Sheet, Status

NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)
LOOK = 5  # lines that say what separates fields
ACROSS = " \\ "  # Region \ Sector: Region down, Sector across


def read_wide(
    path: str | Path,
    variables: Iterable[Variable],
    *,
    down: Sequence[str] | str | None = None,
    across: str | None = None,
    symbols: Sequence[str] = ("x",),
    measure: Measure = COUNT,
    name: str | None = None,
) -> tuple[Sheet, Floats]:
    """A published cross-tab, .csv or .xlsx, as a sheet that is out, and what it prints.

    The head of the last column of labels says `Region \\ Sector`; where it does not, `down` and
    `across` do. What is one of the `symbols` is hidden, and nan.

    >>> from tempfile import TemporaryDirectory
    >>> sex, town = Variable("Sex", ("f", "m")), Variable("Town", ("A", "B"))
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "towns.csv"
    ...     _ = path.write_text("Town,f,m\\nA,12,x\\nB,9,11\\n")
    ...     sheet, values = read_wide(path, [sex, town], down="Town", across="Sex")
    >>> sheet, values.tolist()
    (Sheet(towns: Town 2 x Sex 2, count), [[12.0, nan], [9.0, 11.0]])
    """
    path = Path(path)
    where = repr(path.name)
    known = {variable.name: variable for variable in variables}
    rows = [row for row in grid(path) if any(row)]
    while rows and sum(map(bool, rows[0])) < 2:  # a title
        rows.pop(0)
    if len(rows) < 2:
        raise DataError(f"{where} has no lines below its head; it needs at least one.")
    head, *body = rows
    beside, over = _heads(head, known, [down] if isinstance(down, str) else down, across, where)
    width, first = len(beside), Grouping.of(known[beside[0]])
    while body and not any(body[-1][1:]) and line_of(first, body[-1][0]) is None:
        body.pop()  # a note
    names = [*beside, *([over] if over else [])]
    labels = [list(dict.fromkeys(row[place] for row in body)) for place in range(width)]
    if over:
        labels.append(list(dict.fromkeys(head[width:])))
    groupings = [
        Grouping(known[one], lines_of(known[one], given, where))
        for one, given in zip(names, labels, strict=True)
    ]
    sheet = Sheet(name or path.stem, tuple(groupings), measure, (), "", Status.OUT)
    cells = long_cells([head, *body], width, across=bool(over))
    return sheet, filled(sheet, cells, symbols, where)


def grid(path: Path) -> list[list[str]]:
    """The fields of a CSV file or of the first sheet of a workbook, as text."""
    if path.suffix.lower() == ".xlsx":
        found = [[label(value) for value in row] for row in rows_of(path)]
    else:
        found = fields(path)
    width = max(map(len, found), default=0)
    return [[*row, *[""] * (width - len(row))] for row in found]


def fields(path: Path) -> list[list[str]]:
    """The fields of a CSV file, with whatever separates them."""
    text = read_text(path)
    rows = split_csv(text, repr(path.name), DataError, separator(text, LOOK))
    return [row for _, row in rows]


def long_cells(
    rows: Sequence[Sequence[str]], width: int, *, across: bool
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Labels and text of each cell, behind `width` columns of labels."""
    head, *body = rows
    for row in body:
        for place in range(width, len(head)):
            over = (head[place],) if across else ()
            yield (*row[:width], *over), row[place]


def filled(
    sheet: Sheet, cells: Iterable[tuple[Sequence[str], str]], symbols: Sequence[str], where: str
) -> Floats:
    """What a sheet prints, each cell once; nan where a symbol stands."""
    places = [
        {text: i for i, one in enumerate(g.labels) for text in (one, f"'{one}")}
        for g in sheet.groupings
    ]
    found = np.zeros(sheet.shape)
    seen = np.zeros(sheet.shape, bool)
    for labels, text in cells:
        at = tuple(place.get(one, -1) for place, one in zip(places, labels, strict=True))
        named = ", ".join(labels) or "the total"
        if -1 in at:
            lost = labels[at.index(-1)]
            every = sheet.groupings[at.index(-1)].labels
            raise DataError(f"{where} has an unknown line {lost!r}; {near(lost, every)}")
        if seen[at]:
            raise DataError(f"{where} has {named} twice; take one out.")
        seen[at] = True
        found[at] = math.nan if text in symbols else _number(text, named, where)
    if not seen.all():
        cell = sheet.label(int(np.argmin(seen)))
        raise DataError(f"{where} lacks {', '.join(cell.values())}; add it.")
    return found


def _number(text: str, cell: str, where: str) -> float:
    if not NUMBER.fullmatch(text):
        what = repr(text) if text else "empty"
        raise DataError(
            f"{cell} of {where} is {what}, no plain number; write it like 1234.5, or say that "
            f"{text!r} stands for what is hidden, with symbols."
        )
    return float(text)


def _heads(
    head: Sequence[str],
    known: dict[str, Variable],
    down: Sequence[str] | None,
    across: str | None,
    where: str,
) -> tuple[list[str], str | None]:
    """The variables down and across."""
    if down is None:
        down = []
        for text in head:
            inner, _, outer = text.rpartition(ACROSS)
            if inner in known and text not in known:
                down, across = [*down, inner], outer
                break
            if text not in known:
                break
            down = [*down, text]
        if not down:
            raise DataError(
                f"the head of {where} begins with {head[0]!r}, no variable; name the variables "
                f"with down and across, or there: Region{ACROSS}Sector."
            )
    for one in (*down, *([across] if across else [])):
        if one not in known:
            raise DataError(f"{where} has an unknown variable {one!r}; {near(one, known)}")
    if across is None and len(head) > len(down) + 1:
        raise DataError(
            f"{where} has {len(head) - len(down)} columns of numbers; name what stands across, "
            f"like {down[-1]}{ACROSS}Sector."
        )
    if len(head) <= len(down):
        raise DataError(f"{where} has no column of numbers; add one.")
    return [*down], across
