"""Data and the tables that are wanted of them: only the columns that these need are read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from discreet.errors import DataError
from discreet.sheets.batch import read_batch
from discreet.sheets.grouping import Grouping
from discreet.sheets.listed import MEASURE, Listing, product, read_listing
from discreet.sheets.records import Records
from discreet.sheets.sheet import COUNT, Measure, Sheet
from discreet.table.formula import as_formula
from discreet.table.microdata import Microdata
from discreet.table.table import Table


def read_sheets(
    data: Microdata | Table,
    tables: str | Path,
    *,
    measure: Measure = COUNT,
    also: Iterable[str] = (),
    measures: Iterable[Measure] = (),
    impossible: object = None,
) -> tuple[Records, tuple[Sheet, ...]]:
    """The sheets that a list names, and the records behind them.

    `measure` is that of tables which name no value; `also` and `measures` are variables and
    measures that something else needs.

    >>> from tempfile import TemporaryDirectory
    >>> from discreet.table.load import load
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tables.txt"
    ...     _ = path.write_text("Race*Income\\nGender | where Race=Chinese")
    ...     records, sheets = read_sheets(load("example:tract"), path)
    >>> sheets
    (Sheet(1: Race 5 x Income 5, count), Sheet(2: Gender 3, count, Race=Chinese))
    """
    listing = read_listing(tables)
    own = [_measure(listed.said, measure) for listed in listing.tables]
    records = read_records(
        data,
        dict.fromkeys((*_variables(listing), *also)),
        [*own, *measures],
        impossible,
    )
    columns = data.source.columns if isinstance(data, Microdata) else ()
    sheets = read_batch(tables, records.variables, columns=columns)
    return records, tuple(
        dataclasses.replace(sheet, measure=one) for sheet, one in zip(sheets, own, strict=True)
    )


def formula_sheets(
    data: Microdata | Table, formula: str, *, measure: Measure = COUNT, impossible: object = None
) -> tuple[Records, tuple[Sheet, ...]]:
    """The margins of a formula, each a sheet with totals and the levels of its hierarchies.

    >>> from discreet.table.load import load
    >>> records, sheets = formula_sheets(load("example:tract"), "Race*Income")
    >>> records, sheets
    (Records(9 rows, 742 people, 2 variables), (Sheet(Race*Income: Race 5 x Income 5, count),))
    """
    columns = data.columns if isinstance(data, Microdata) else data.names
    left = tuple(c for c in columns if c not in measure.columns)
    margins = as_formula(formula, left).frontier.margins
    names = [name for name in left if any(name in margin for margin in margins)]
    records = read_records(data, names, [measure], impossible)
    return records, tuple(
        Sheet(
            "*".join(margin),
            tuple(Grouping.of(records.variable(name)) for name in margin),
            measure,
        )
        for margin in margins
    )


def read_records(
    data: Microdata | Table, names: Iterable[str], measures: Iterable[Measure], impossible: object
) -> Records:
    """The records, or the cells of a table, as far as variables and measures need them."""
    measures = list(measures)
    if isinstance(data, Microdata):
        return Records.read(data, variables=[*names], measures=measures, impossible=impossible)
    if summed := [m for m in measures if m.columns]:
        raise DataError(
            f"a table of the {summed[0]} needs records with its contributors, and the data are "
            "cells; give one record a row."
        )
    return Records.of_table(data.margin([n for n in data.names if n in set(names)]))


def _measure(said: Any, usual: Measure) -> Measure:
    given = {key: said[key] for key in MEASURE if isinstance(said.get(key), str) and said[key]}
    return Measure(**given) if given else usual


def _variables(listing: Listing) -> list[str]:
    """Every variable that a list names, codings by what they are codings of."""
    found: dict[str, None] = {}
    for listed in listing.tables:
        said = listed.said
        given = said.get("variables")
        names = product(given) if isinstance(given, str) else list(given or ())
        for key in ("rows", "columns"):
            one = said.get(key) or []
            names += [one] if isinstance(one, str) else list(one)
        where = said.get("where")
        names += list(where) if isinstance(where, dict) else []
        for name in names:
            coding = listing.codings.get(name, {})
            found[str(coding.get("variable", name))] = None
    return list(found)
