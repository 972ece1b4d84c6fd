"""Data and the tables that are wanted of them: only the columns that these need are read."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from discreet.data.impossible import Impossible
from discreet.data.reading import How, Opened, Reading
from discreet.errors import DataError, near
from discreet.sheets.batch import read_batch
from discreet.sheets.grouping import Grouping
from discreet.sheets.listed import MEASURE, Listing, product, read_listing
from discreet.sheets.records import COUNTED, Records
from discreet.sheets.sheet import COUNT, Measure, Sheet
from discreet.table.formula import as_formula
from discreet.table.microdata import Microdata
from discreet.table.read import table_of
from discreet.table.table import Table

TAKES = (
    *("count", "codebook", "table", "records", "crosstab", "totals", "impossible", "without"),
    "bands",
)


def read_sheets(
    data: object,
    tables: str | Path,
    *,
    measure: Measure = COUNT,
    also: Iterable[str] = (),
    measures: Iterable[Measure] = (),
    **how: Unpack[How],
) -> tuple[Records, tuple[Sheet, ...]]:
    """The sheets that a list names, and the records behind them.

    `data` are records or a table that are read already, or whatever `load` takes, with its
    arguments. `measure` is that of tables which name no value; `also` and `measures` are variables
    and measures that something else needs: the verdict, those of `categories.hidden`.

    >>> from tempfile import TemporaryDirectory
    >>> from discreet.table.load import load
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "tables.txt"
    ...     _ = path.write_text("Race*Income\\nGender | where Race=Chinese")
    ...     records, sheets = read_sheets(load("example:tract"), path)
    >>> sheets
    (Sheet(1: Race 5 x Income 5, count), Sheet(2: Gender 3, count, Race=Chinese))
    """
    said = Reading.of(how, takes=TAKES)
    return sheets_of(data, tables, said, measure=measure, also=also, measures=measures)


def sheets_of(
    data: object,
    tables: str | Path,
    how: Reading,
    *,
    measure: Measure = COUNT,
    also: Iterable[str] = (),
    noted: Iterable[str] = (),
    measures: Iterable[Measure] = (),
) -> tuple[Records, tuple[Sheet, ...]]:
    """The same, of DATA read as `how` says; `noted` are variables, read where DATA have them."""
    listing = read_listing(tables)
    own = [_measure(listed.said, measure) for listed in listing.tables]
    needed = [*own, *measures]
    held = hold(data, needed, how)
    names = (*_variables(listing), *also, *(name for name in noted if name in held.columns))
    records = read_records(held, dict.fromkeys(names), needed)
    known = {c for measure in needed for c in (*measure.numbers, COUNTED)}
    for name in sorted(frozenset().union(*listing.independent) - known):
        raise DataError(
            f"independent of {listing.file} names {name!r}, which no table adds up; "
            f"{near(name, known)}"
        )
    records = dataclasses.replace(records, independent=listing.independent)
    columns = held.data.source.columns if isinstance(held.data, Microdata) else held.columns
    sheets = read_batch(tables, records.variables, columns=columns)
    return records, tuple(
        dataclasses.replace(sheet, measure=one) for sheet, one in zip(sheets, own, strict=True)
    )


def formula_sheets(
    data: object,
    formula: str,
    *,
    measure: Measure = COUNT,
    also: Iterable[str] = (),
    **how: Unpack[How],
) -> tuple[Records, tuple[Sheet, ...]]:
    """The margins of a formula, each a sheet with totals and the levels of its hierarchies.

    `data`, `also` and `how` are as in `read_sheets`.

    >>> from discreet.table.load import load
    >>> records, sheets = formula_sheets(load("example:tract"), "Race*Income")
    >>> records, sheets
    (Records(9 rows, 742 people, 2 variables), (Sheet(Race*Income: Race 5 x Income 5, count),))
    """
    return sheets_of_formula(
        data, formula, Reading.of(how, takes=TAKES), measure=measure, also=also
    )


def sheets_of_formula(
    data: object,
    formula: str,
    how: Reading,
    *,
    measure: Measure = COUNT,
    also: Iterable[str] = (),
    noted: Iterable[str] = (),
) -> tuple[Records, tuple[Sheet, ...]]:
    """The same, of DATA read as `how` says; `noted` as in `sheets_of`."""
    held = hold(data, [measure], how)
    left = tuple(c for c in held.columns if c not in measure.columns)
    margins = as_formula(formula, left).frontier.margins
    told = [name for name in left if any(name in margin for margin in margins)]
    names = dict.fromkeys((*told, *also, *(name for name in noted if name in held.columns)))
    records = read_records(held, names, [measure])
    return records, tuple(
        Sheet(
            "*".join(margin),
            tuple(Grouping.of(records.variable(name)) for name in margin),
            measure,
        )
        for margin in margins
    )


class Held(NamedTuple):
    """Records, a table, or cells that are open: what is impossible, and the columns there are."""

    data: Microdata | Table | Opened
    impossible: Impossible
    columns: tuple[str, ...]


def hold(data: object, measures: Iterable[Measure], how: Reading) -> Held:
    """DATA for tables of these measures, whose columns are neither counts nor variables."""
    if isinstance(data, Microdata | Table):
        if how.beside(*(["impossible"] if isinstance(data, Microdata) else [])):
            raise DataError("the data are read already; say how when they are read.")
        columns = data.columns if isinstance(data, Microdata) else data.names
        return Held(data, how.impossible, columns)
    aside = dict.fromkeys(column for measure in measures for column in measure.columns)
    opened = how.open(data, aside=tuple(aside))
    if opened.count is None:
        people = Microdata.of(opened)
        return Held(people, how.impossible, people.columns)
    left = tuple(name for name in opened.columns if name not in opened.without)
    return Held(opened, how.impossible, left)


def read_records(held: Held, names: Iterable[str], measures: Iterable[Measure]) -> Records:
    """The records, or the cells of a table, as far as variables and measures need them."""
    measures, names = list(measures), list(names)
    records = _read_records(held, names, measures)
    return dataclasses.replace(records, unread=frozenset(held.columns) - {*records.codes})


def _read_records(held: Held, names: list[str], measures: list[Measure]) -> Records:
    data = held.data
    if isinstance(data, Microdata):
        return Records.read(data, variables=names, measures=measures, impossible=held.impossible)
    if summed := [m for m in measures if m.columns]:
        raise DataError(
            f"a table of the {summed[0]} needs records with its contributors, and the data are "
            "cells; give one record a row."
        )
    find = held.impossible.find
    if isinstance(data, Table):
        return Records.of_table(data.margin([n for n in data.names if n in names]), find=find)
    places = {name: place for place, name in enumerate(data.columns)}
    ordered = sorted(names, key=lambda name: places.get(name, len(places)))
    return Records.of_table(table_of(data, ordered), find=find)


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
