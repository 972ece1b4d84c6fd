"""Cross-tabs: categories down the side and across the top, counts inside; read as cells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from discreet.data.count import whole_numbers
from discreet.data.figures import holds_counts, is_text
from discreet.data.roles import Names
from discreet.data.source import Source, engine_errors, from_arrow
from discreet.errors import DataError, WrongKind


def as_cells(source: Source, name: str, *, known: Collection[str] = ()) -> tuple[Source, str]:
    """One row a cell, with the columns of counts as categories of `name`, and the count's name.

    Down the side are the first column, those without counts, and those that are `known`.
    """
    import pyarrow as pa

    with engine_errors(source.name):
        table = source.records.to_pyarrow()
    if table.num_rows == 0:
        raise DataError(f"{source.name} has no rows; it needs at least one below its header.")
    names = list(table.column_names)
    if not name.strip() or name.lower() in {column.lower() for column in names}:
        raise WrongKind(
            lambda say: (
                f"{say('crosstab', name)} must be a new name for what stands across {source.name}; "
                f"it has the columns {', '.join(map(repr, names[:10]))}."
            )
        )
    beside, across = _split(table, names, known, source.name)
    _check_header(table, across, source.name)
    count = "n"
    while count in {column.lower() for column in (*beside, name)}:
        count += "_"
    pieces = [
        pa.table(
            [
                *(table[column] for column in beside),
                pa.array([column.strip()] * table.num_rows, pa.string()),
                pa.array(whole_numbers(table[column], column, source.name)),
            ],
            names=[*beside, name, count],
        )
        for column in across
    ]
    orders = dict(source.orders) | {name: tuple(column.strip() for column in across)}
    made = from_arrow(pa.concat_tables(pieces), orders, source.name)
    return replace(made, codebook=source.codebook), count


def _check_header(table: Any, across: Sequence[str], where: str) -> None:
    """Refuse a second line of headings among the counts."""
    first = [table[name][0].as_py() for name in across if is_text(table[name])]
    heads = [text for text in first if text and not any(c.isdigit() for c in text)]
    if len(heads) >= 2 and len(heads) == len(first) and table.num_rows > 1:
        raise DataError(
            f"the first row of {where} has {heads[0]!r} and {heads[1]!r} where counts are needed, "
            "like a second line of headings; join the two lines into one."
        )


def _split(
    table: Any, names: Sequence[str], known: Collection[str], where: str
) -> tuple[list[str], list[str]]:
    """The columns down the side, and those across."""
    across = [name for name in names[1:] if name not in known and holds_counts(table[name])]
    if not across:
        raise DataError(
            f"{where} has no columns of counts; a cross-tab has one for each category across."
        )
    beside = [name for name in names if name not in across]
    start = names.index(across[0])
    if late := [name for name in names[start:] if name in beside]:
        raise WrongKind(
            lambda say: (
                f"column {late[0]!r} of {where} stands behind the counts in {across[0]!r} and "
                f"holds none: say {say('without', Names(late))}, or put it in front."
            )
        )
    return beside, across
