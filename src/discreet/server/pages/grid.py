"""A published table as rows and columns with totals, a page of rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet.arrays import Ints
from discreet.errors import DisclosureError
from discreet.server.pages.layout import Layout, Show, usual_of
from discreet.server.pages.words import number, percent
from discreet.server.showing.catalogue import Published

ROWS = 60  # of a page


@dataclass(frozen=True)
class Head:
    """A category beside its rows or above its columns; `id` is what its cells point at."""

    text: str
    span: int
    id: str
    under: tuple[str, ...] = ()
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
    """`heads`: of the columns, a row of them for each variable above; `columns`: what each column
    is of, and the ids of its heads.
    """

    layout: Layout
    heads: tuple[tuple[Head, ...], ...]
    columns: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    rows: tuple[Row, ...]
    foot: tuple[int, ...]
    page: int
    pages: int
    first: int
    all_rows: int

    @property
    def beside(self) -> tuple[str, ...]:
        return self.layout.rows

    @property
    def above(self) -> tuple[str, ...]:
        return self.layout.columns

    @property
    def total(self) -> int:
        return sum(self.foot)

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1

    def value(self, row: Row, column: int) -> float:
        """What a cell shows: a count, or a share of its row, its column, or all."""
        return self._of(row.counts[column], row.total, self.foot[column])

    def value_of_row(self, row: Row) -> float:
        return self._of(row.total, row.total, self.total)

    def value_of_column(self, column: int) -> float:
        return self._of(self.foot[column], self.total, self.foot[column])

    def _of(self, n: int, row: int, column: int) -> float:
        whole = {Show.ROW: row, Show.COLUMN: column, Show.TOTAL: self.total}
        if self.layout.show is Show.COUNTS:
            return n
        return n / whole[self.layout.show] if whole[self.layout.show] else float("nan")

    def said(self, value: float) -> str:
        """As a cell shows it; a share of nobody is nothing."""
        if value != value:
            return ""
        return number(value) if self.layout.show is Show.COUNTS else percent(value, 1)


def grid(
    table: Published, page: int = 1, layout: Layout | None = None, *, most: int = ROWS
) -> Grid:
    """The page of rows."""
    layout = layout or usual_of(table)
    axes = [table.names.index(name) for name in layout.names]
    beside = [table.categories[i] for i in axes[: len(layout.rows)]]
    above = [table.categories[i] for i in axes[len(layout.rows) :]]
    cells = table.counts.transpose(axes).reshape(-1, prod(map(len, above)))
    pages = max(1, -(-len(cells) // most))
    if not 1 <= page <= pages:
        raise DisclosureError(f"the table has {pages} pages; there is no page {page}.")
    start = (page - 1) * most
    return Grid(
        layout,
        *_columns(above),
        _rows(cells[start : start + most], start, beside),
        tuple(int(n) for n in cells.sum(0)),
        page,
        pages,
        start + 1,
        len(cells),
    )


def _columns(
    above: Sequence[Sequence[str]],
) -> tuple[tuple[tuple[Head, ...], ...], tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]:
    """The heads of the columns, level by level, and what stands over each column."""
    shape = tuple(map(len, above))
    levels: list[tuple[Head, ...]] = []
    width = prod(shape)
    ids: list[tuple[str, ...]] = [()] * width
    labels: list[tuple[str, ...]] = [()] * width
    for level in range(len(shape)):
        span, heads = prod(shape[level + 1 :]), list[Head]()
        for place in range(width // span):
            begin = place * span
            text = above[level][place % shape[level]]
            heads.append(Head(text, span, f"c{level}-{place}", ids[begin]))
            for column in range(begin, begin + span):
                labels[column] = (*labels[column], text)
                ids[column] = (*ids[column], f"c{level}-{place}")
        levels.append(tuple(heads))
    return tuple(levels), tuple(zip(labels, ids, strict=True))


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
            heads.append(Head(text, spans - i, under[level], tuple(under[:level]), bool(going_on)))
        labels = tuple(c[at] for c, at in zip(categories, code, strict=True))
        counts = tuple(int(n) for n in cells[i])
        rows.append(Row(tuple(heads), tuple(under), labels, counts))
    return tuple(rows)
