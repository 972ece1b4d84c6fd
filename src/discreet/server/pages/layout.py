"""How a table is laid out: which variables stand in rows and in columns, and what its cells say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import prod

from discreet.errors import DisclosureError
from discreet.server.showing.catalogue import Published

COLUMNS = 8  # more categories stand in rows, unless somebody wants them in columns
MOST_COLUMNS = 120


class Show(StrEnum):
    """What the cells say."""

    COUNTS = "counts"
    ROW = "row"  # shares of the row
    COLUMN = "column"
    TOTAL = "total"


@dataclass(frozen=True)
class Layout:
    """Variables in rows and in columns, the outer ones first."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    show: Show = Show.COUNTS
    totals: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.rows, *self.columns)


def usual(names: Sequence[str], sizes: Sequence[int]) -> Layout:
    """The last variable that is not too wide becomes the columns; if there is one alone, none.

    >>> usual(["Sex", "Income", "Town"], [2, 5, 90])
    Layout(rows=('Sex', 'Town'), columns=('Income',), show=<Show.COUNTS: 'counts'>, totals=True)
    """
    fitting = [name for name, size in zip(names, sizes, strict=True) if size <= COLUMNS]
    columns = fitting[-1:] if len(names) > 1 else []
    return Layout(tuple(name for name in names if name not in columns), tuple(columns))


def usual_of(table: Published) -> Layout:
    return usual(table.names, table.counts.shape)


def laid_out(
    table: Published,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    show: Show = Show.COUNTS,
    totals: bool = True,
) -> Layout:
    """As somebody wants it; variables that they do not name stand in the rows."""
    placed = set[str]()
    for name in (*rows, *columns):
        if name not in table.names:
            raise DisclosureError(
                f"{name!r} is no variable of this table; it has {', '.join(table.names)}."
            )
        if name in placed:
            raise DisclosureError(f"{name!r} can stand in one place only; name it once.")
        placed.add(name)
    if not rows and not columns:
        plain = usual_of(table)
        return Layout(plain.rows, plain.columns, show, totals)
    rest = [name for name in table.names if name not in (*rows, *columns)]
    beside, above = [*rows, *rest], list(columns)
    if not beside:
        beside = [above.pop(0)]
    sizes = dict(zip(table.names, map(len, table.categories), strict=True))
    wide = prod(sizes[name] for name in above)
    if wide > MOST_COLUMNS:
        raise DisclosureError(
            f"the table would have {wide:,} columns; {MOST_COLUMNS} are shown at most. Put a "
            "variable with fewer categories there."
        )
    return Layout(tuple(beside), tuple(above), show, totals)
