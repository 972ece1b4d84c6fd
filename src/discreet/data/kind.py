"""People, cells or a cross-tab? A look before the count: cells taken for people turn a FAIL into
a PASS."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from discreet.data.figures import (
    adds_up,
    are_shares,
    holds_counts,
    holds_figures,
    is_fractional,
    is_percent,
    is_text,
    measures,
    numbers_of,
)
from discreet.data.grid import CHANCE, by_chance, count_of_a_grid, rows_differ
from discreet.data.head import Head, head_of
from discreet.data.source import Source
from discreet.data.telling import COUNTS, PERHAPS
from discreet.data.totals import is_total, words
from discreet.errors import DataError, WrongKind

CODES = 20  # rows from which a column of A1, A2, ... is an id
RISING = 5  # rows from which numbers that rise down the side of others are no chance
MOST_MEASURES = 12  # kinds of figures in a long file

# what numbers down the side of a cross-tab are called
SIDES = words(
    """year years jahr jahre année annee año anno jaar age ages alter edad âge zip zipcode postcode
    plz tract area region county district state province code municipality gemeinde kreis"""
)


def check_records(source: Source, *, known: Collection[str], aside: Collection[str] = ()) -> None:
    """Refuse cells and cross-tabs; columns that are `known` or put `aside` are no counts."""
    head = head_of(source, [name for name in source.columns if name not in aside])
    names = list(head.rows.column_names)
    if head.rows.num_rows == 0 or len(names) < 2:
        return
    where = source.name
    numbers = [name for name in names if name not in known and _numbers(head, name)]
    if not head.differ(names):
        _check_repeated(source, head, numbers)
        return
    check_measures(head, names)
    if name := _named_count(head, names, numbers):
        raise WrongKind(
            lambda say: (
                f"every row of {where} is different and {name!r} looks like a count: is this a "
                f"file of cells? Say {say('count', name)}, or {say('records', True)} if each row "
                "is a person."
            )
        )
    whole = [name for name in names if name in known or not _is_figure(head, name)]
    if len(whole) > 1 and (columns := _across(head, whole, numbers)):
        _refuse_crosstab(source, names[0], columns)
    if name := count_of_a_grid(head, names, numbers):
        raise WrongKind(
            lambda say: (
                f"no two rows of {where} are alike when {name!r} is set aside, as in a file of "
                f"cells: are these counts? Say {say('count', name)}, or {say('records', True)} if "
                "each row is a person."
            )
        )
    _check_repeated(source, head, numbers)
    if shares := _shares(head, [name for name in names if name not in known], names):
        some = "hold" if len(shares) > 1 else "holds"
        raise WrongKind(
            lambda say: (
                f"every row of {where} is different and {_listed(shares)} {some} percentages or "
                "shares, which count nobody: give a file with the counts, or say "
                f"{say('records', True)} if each row is a person."
            )
        )


def check_measures(head: Head, names: Sequence[str]) -> None:
    """Refuse a long file in which counts and shares stand below one another."""
    for name in names:
        column = head.rows[name]
        if not is_text(column) or head.codes(name)[1] > MOST_MEASURES:
            continue
        both = measures([str(value) for value in column.unique().drop_null().to_pylist()])
        if both is not None:
            raise DataError(
                f"{name!r} of {head.source.name} tells rows of {both[0]!r} from rows of "
                f"{both[1]!r}: counts and shares stand below one another. Keep the rows of "
                f"{both[0]!r} and take {name!r} out."
            )


def _named_count(head: Head, names: Sequence[str], numbers: Sequence[str]) -> str | None:
    """A column called like a count; all rows differ in the others."""
    for name in numbers:
        perhaps = name.strip().casefold() in PERHAPS and len(numbers) == 1
        if not (perhaps or _called_count(name)) or _ones(head, name):
            continue
        others = [other for other in names if other != name]
        if head.differ(others) and (head.every or rows_differ(head.source, others)):
            return name
    return None


def _called_count(name: str) -> bool:
    return name.strip().casefold() in COUNTS


def _ones(head: Head, name: str) -> bool:
    """One a row, as people are."""
    return {str(value).strip() for value in head.rows[name].unique().to_pylist()} <= {"1", "1.0"}


def _numbers(head: Head, name: str) -> bool:
    """Counts; under the name of one, with words beside them too."""
    column = head.rows[name]
    return holds_counts(column) or (_called_count(name) and holds_figures(column))


def _check_repeated(source: Source, head: Head, numbers: Sequence[str]) -> None:
    """Refuse cells that stand several times: in a row of 0 there is nobody."""
    letters = sum(len(name.strip()) == 1 for name in head.rows.column_names)
    series = letters > 2 and 2 * letters > len(head.rows.column_names)  # N after M, not a number
    found = [
        name
        for name in numbers
        if _called_count(name) and not _ones(head, name) and not (series and len(name) == 1)
    ]
    if found:
        raise WrongKind(
            lambda say: (
                f"{found[0]!r} of {source.name} is called like a count, and rows that are alike in "
                f"all else repeat: if these are cells, add them up and say "
                f"{say('count', found[0])}; say {say('records', True)} if each row is a person."
            )
        )


def _across(head: Head, names: Sequence[str], numbers: Sequence[str]) -> list[str]:
    """The columns of a cross-tab, which stand behind those that tell all its rows apart."""
    if not head.every or head.rows.num_rows < 2:
        return []
    first = next((place for place, name in enumerate(names[::-1]) if name not in numbers), None)
    start = 1 if first is None else len(names) - first
    before, columns = names[:start], list(names[start:])
    if len(columns) < 2 or not head.differ(before):
        return []
    rows, sizes = head.rows.num_rows, [head.codes(name)[1] for name in before]
    if _has_sums(head, columns) or (first is None and _rising(head, names[0])):
        return columns
    if first is None or (rows >= CODES and _is_id(head.rows[before[0]])):
        return []
    own = all(size == rows for size in sizes)
    return columns if own or by_chance(rows, math.prod(sizes)) <= CHANCE else []


def _has_sums(head: Head, columns: Sequence[str]) -> bool:
    """One is called a total, and is the sum of the others."""
    import pyarrow as pa

    sums = [name for name in columns if is_total(name)]
    if len(sums) != 1 or len(columns) < 3:
        return False
    try:
        values = {name: head.rows[name].cast(pa.float64()).to_numpy() for name in columns}
    except pa.ArrowException:  # not all are numbers
        return False
    rest = sum(values[name] for name in columns if name != sums[0])
    return bool(np.all(rest == values[sums[0]]))


def _rising(head: Head, name: str) -> bool:
    """Years, ages or codes of areas down the side, each once and in order; row numbers are none."""
    values = numbers_of(head.rows[name])
    if values is None or len(values) != head.rows.num_rows or len(values) < RISING:
        return False
    steps = np.diff(values)
    told = bool(set(re.split(r"[\W\d_]+", name.casefold())) & SIDES)
    return bool((steps > 0).all()) and (told or bool((steps > 1).any() and values[0] > 1))


def _is_figure(head: Head, name: str) -> bool:
    """A share or a mean."""
    return is_fractional(head.rows[name]) or is_percent(head.rows[name], name)


def _shares(head: Head, unknown: Sequence[str], names: Sequence[str]) -> list[str]:
    """Columns of shares, in a cross-tab or beside the cells that they are of."""
    figures = [name for name in unknown if _is_figure(head, name)]
    others = [name for name in names if name not in figures]
    if not figures or not others or not head.every or not head.differ(others):
        return []
    columns = [head.rows[name] for name in figures]
    if are_shares(columns):
        return figures
    telling = [name for name in figures if is_percent(head.rows[name], name)]
    cells = math.prod(head.codes(name)[1] for name in others)
    if telling and (
        by_chance(head.rows.num_rows, cells) <= CHANCE
        or any(adds_up(head.rows[name]) for name in telling)
    ):
        return telling
    return []


def _is_id(column: Any) -> bool:
    """A1, A2, ...: a person's, not a category."""
    return all(re.fullmatch(r"\D*\d+", str(value).strip()) for value in column.to_pylist())


def _refuse_crosstab(source: Source, row: str, columns: Sequence[str]) -> None:
    raise WrongKind(
        lambda say: (
            f"each row of {source.name} has a {row!r} of its own and numbers in "
            f"{_listed(columns)}: is this "
            f"a cross-tab? Say {say('crosstab', 'NAME')} with a name for what stands across, or "
            f"{say('records', True)} if each row is a person."
        )
    )


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(map(repr, columns[:3])) + (", ..." if len(columns) > 3 else "")
