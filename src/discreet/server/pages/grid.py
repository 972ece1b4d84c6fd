"""A published table as rows and columns with totals, a page of rows at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DisclosureError
from discreet.server.catalogue import Published

Ints = NDArray[np.int64]
ROWS = 60  # of a page
COLUMNS = 8  # more categories stand in rows


@dataclass(frozen=True)
class Head:
    """A category beside its rows; `id` is what its cells point at."""

    text: str
    rows: int
    id: str
    continued: bool = False


@dataclass(frozen=True)
class Row:
    """Heads that begin here, the ids of all that it stands under, counts and their sum."""

    heads: tuple[Head, ...]
    under: tuple[str, ...]
    labels: tuple[str, ...]
    counts: tuple[int, ...]

    @property
    def total(self) -> int:
        return sum(self.counts)


@dataclass(frozen=True)
class Grid:
    """The variables of the rows, and the one of the columns if there is one."""

    beside: tuple[str, ...]
    above: str | None
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    foot: tuple[int, ...]
    page: int
    pages: int
    first: int
    all_rows: int

    @property
    def total(self) -> int:
        return sum(self.foot)

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1


def grid(table: Published, page: int = 1, *, most: int = ROWS) -> Grid:
    """The page of rows; one variable with few categories becomes the columns."""
    axis = _above(table)
    beside = tuple(i for i in range(len(table.names)) if i != axis)
    order = (*beside, axis) if axis is not None else beside
    width = len(table.categories[axis]) if axis is not None else 1
    cells = table.counts.transpose(order).reshape(-1, width)
    pages = max(1, -(-len(cells) // most))
    if not 1 <= page <= pages:
        raise DisclosureError(f"the table has {pages} pages; there is no page {page}.")
    start = (page - 1) * most
    return Grid(
        tuple(table.names[i] for i in beside),
        None if axis is None else table.names[axis],
        ("Count",) if axis is None else table.categories[axis],
        _rows(cells[start : start + most], start, [table.categories[i] for i in beside]),
        tuple(int(n) for n in cells.sum(0)),
        page,
        pages,
        start + 1,
        len(cells),
    )


def _above(table: Published) -> int | None:
    """The last variable that is not too wide; a table of one variable has none."""
    if len(table.names) == 1:
        return None
    fitting = [i for i, c in enumerate(table.categories) if len(c) <= COLUMNS]
    return fitting[-1] if fitting else None


def _rows(cells: Ints, start: int, categories: list[tuple[str, ...]]) -> tuple[Row, ...]:
    shape = tuple(map(len, categories))
    codes = [np.unravel_index(start + i, shape) for i in range(len(cells))]
    rows, under = [], [""] * len(shape)
    for i, code in enumerate(codes):
        heads = []
        for level in range(len(shape)):
            key = code[: level + 1]
            if i and codes[i - 1][: level + 1] == key:
                continue
            spans = next(
                (j for j in range(i, len(codes)) if codes[j][: level + 1] != key), len(codes)
            )
            under[level] = f"r{level}-{i}"
            going_on = not i and any(code[level + 1 :])
            text = categories[level][code[level]]
            heads.append(Head(text, spans - i, under[level], going_on))
        labels = tuple(c[at] for c, at in zip(categories, code, strict=True))
        counts = tuple(int(n) for n in cells[i])
        rows.append(Row(tuple(heads), tuple(under), labels, counts))
    return tuple(rows)
