"""What a users file says that somebody wants to know: cells, the table, a share, an odds ratio."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.data.settings import only
from discreet.decision.users.functions import odds_target, share_target
from discreet.decision.users.targets import Target, cell_targets, table_target
from discreet.errors import DataError
from discreet.intruder.posterior.whole_table import Model
from discreet.table.cells import Cells
from discreet.table.table import Table

WORDS = ("small", "nonzero", "cells", "table")
FORMS = "small, nonzero, cells, table, a margin such as A*B, or { cell | cells | share | odds }"
Make = Callable[[Model], tuple[Target, ...]]


@dataclass(frozen=True)
class Wanted:
    """Targets, under whichever model, and whether all of them are counts of cells."""

    under: Make
    counts: bool = True  # or arrays of counts
    single: bool = True  # one count each

    @classmethod
    def of(cls, given: object, table: Table, small: int, where: str) -> Wanted:
        """From what the file has; a list is a class of targets.

        >>> from discreet.table.load import load
        >>> table = load("example:tract")
        >>> wanted = Wanted.of(["small", "Race*Gender"], table, 2, "target of Ann")
        >>> len(wanted.under(Model("uniform")))
        10
        """
        if isinstance(given, list):
            if not given:
                raise DataError(f"{where} is an empty list; write {FORMS}.")
            parts = [cls.of(each, table, small, where) for each in given]
            return cls(
                lambda model: tuple(t for part in parts for t in part.under(model)),
                all(part.counts for part in parts),
                all(part.single for part in parts),
            )
        if isinstance(given, str):
            return _word(given, table, small, where)
        if isinstance(given, dict):
            return _form(given, table, where)
        raise DataError(f"{where} is {given!r}; write {FORMS}.")


def _word(word: str, table: Table, small: int, where: str) -> Wanted:
    if word == "table":
        return Wanted(lambda model: (table_target(table, model),), single=False)
    if word == "small":
        cells = table.small(small)
        if not len(cells):
            raise DataError(
                f"{where} is small, but no count is from 1 to {small}; write cells or a margin."
            )
    elif word in WORDS:
        cells = table.nonzero() if word == "nonzero" else table.all()
    else:
        cells = table.margin(word).all()
    return Wanted(lambda model: cell_targets(table, cells, model))


def _form(given: dict[str, Any], table: Table, where: str) -> Wanted:
    kinds = [kind for kind in ("cell", "cells", "share", "odds") if kind in given]
    if len(kinds) != 1:
        only(given, {"cell", "cells", "share", "odds", "of"}, where)
        raise DataError(f"{where} needs one of cell, cells, share and odds; it is {given!r}.")
    kind = kinds[0]
    only(given, {kind, "of"} if kind == "share" else {kind}, where)
    value = given[kind]
    if kind == "cells":
        if not isinstance(value, list) or not value:
            raise DataError(f"cells of {where} is {value!r}; give a list of cells.")
        return _cells([_cell(each, where) for each in value], table)
    asked = _cell(value, where)
    if kind == "cell":
        return _cells([asked], table)
    if kind == "odds":
        if wrong := [pair for pair in asked.values() if not isinstance(pair, list)]:
            raise DataError(f"odds of {where} has {wrong[0]!r}; list two categories.")
        target: Callable[[Model], Target] = lambda model: odds_target(table, asked, model)  # noqa: E731
    else:
        of = _cell(given["of"], where) if "of" in given else None
        target = lambda model: share_target(table, asked, of, model)  # noqa: E731
    target(Model("uniform"))  # wrong names are said now
    return Wanted(lambda model: (target(model),), counts=False, single=False)


def _cell(given: object, where: str) -> dict[str, Any]:
    if not isinstance(given, dict) or not given:
        raise DataError(f"{where} has {given!r}; write {{ VARIABLE = CATEGORY }}.")
    return given


def _cells(asked: list[dict[str, Any]], table: Table) -> Wanted:
    """Each its own query: cells may be of different margins."""
    listed = []
    for cell in asked:
        table.axes.places(tuple(cell))  # refuses unknown names
        names = [name for name in table.names if name in cell]
        margin = table.margin(names)
        codes = _codes(margin, cell)
        listed.append(Cells(margin.variables, codes, margin.lookup(codes)))
    return Wanted(lambda model: tuple(t for c in listed for t in cell_targets(table, c, model)))


def _codes(margin: Table, cell: Mapping[str, Any]) -> Any:
    return np.array([[v.code(cell[v.name]) for v in margin.variables]], np.uint32)
