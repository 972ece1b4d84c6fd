"""Margins as sets of a table's variables, and as names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from discreet.table.formula import Formula
from discreet.table.table import Table


def set_of(table: Table, names: Sequence[str]) -> int:
    return Formula.of([names], table.names).sets[0]


def sets_of(table: Table, margins: Iterable[Iterable[str]] | None) -> tuple[int, ...] | None:
    return None if margins is None else Formula.of(margins, table.names).sets


def names_of(table: Table, margin: int) -> tuple[str, ...]:
    return table.axes.names_of(margin)


def lists_of(table: Table, sets: tuple[int, ...] | None) -> list[list[str]] | None:
    return None if sets is None else [list(names_of(table, s)) for s in sets]
