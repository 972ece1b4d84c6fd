"""Files that carry labels: their columns, what the codes mean, and which stand for nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.data.codebook import Codebook, Entry
from discreet.data.codes import apart
from discreet.data.encode import in_order
from discreet.data.frames import label
from discreet.data.source import Source, engine_errors, from_arrow, trimmed
from discreet.errors import WrongKind

LISTED = 5
EXACT = 2**53  # whole numbers that a double holds


@dataclass(frozen=True)
class Coded:
    """A column of a file with labels; `missing` are the codes that its file calls so."""

    name: str
    values: Any
    labels: Mapping[Any, str] = field(default_factory=dict)
    title: str | None = None
    missing: Mapping[str, int] = field(default_factory=dict)  # code: in how many records
    order: tuple[str, ...] = ()


def as_source(
    columns: Sequence[Coded], name: str, *, weights: str | None = None, notes: Sequence[str] = ()
) -> Source:
    """A source whose codebook has the labels; codes of missing values are null, and said."""
    import pyarrow as pa

    names = trimmed([column.name for column in columns])
    values = [whole_numbers(column.values) for column in columns]
    entries = {}
    for called, column, found in zip(names, columns, values, strict=True):
        entry = Entry(_labels(column, found), title=label(column.title) or None, open=True)
        if entry.labels or entry.title:
            entries[called] = entry if entry.labels else replace(entry, open=False)
    orders = {c: column.order for c, column in zip(names, columns, strict=True) if column.order}
    made = from_arrow(pa.table(values, names=names), orders, name)
    told = [*notes, *_missing_note(columns, name)]
    book = Codebook(entries, weights=weights.strip() if weights else None)
    return replace(made, codebook=book, notes=tuple(told))


def check_weight(source: Source) -> None:
    """Refuse a file that says of itself that it is weighted by counts: each row is a cell then."""
    import pyarrow as pa

    name = source.codebook.weights if source.codebook else None
    if name is None:
        return
    with engine_errors(source.name):
        values = source.records.select(name).distinct().to_pyarrow()[name]
    if pa.types.is_integer(whole_numbers(values).type) and len(values) > 1:
        raise WrongKind(
            lambda say: (
                f"{source.name} is weighted by {name!r}, in whole numbers: is this a file of "
                f"cells? Say {say('count', name)}, or {say('records', True)} if each row is a "
                "person."
            )
        )


def whole_numbers(column: Any) -> Any:
    """Doubles that are all whole, as integers: code 1 is not 1.0."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type):
        return column
    column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    fits = pc.and_(pc.equal(pc.floor(column), column), pc.less(pc.abs(column), EXACT))
    return column.cast(pa.int64()) if pc.all(fits, min_count=0).as_py() else column


def _labels(column: Coded, values: Any) -> dict[str, str]:
    """Labels in the order of their codes; one that two codes share is told apart by the code."""
    said = {label(code): label(text) for code, text in column.labels.items()}
    said = {c: text for c, text in said.items() if c and text and c not in column.missing}
    if not said:
        return {}
    found = apart(said, {label(value) for value in values.unique().to_pylist()})
    return {code: found[code] for code in in_order(said)}


def _missing_note(columns: Sequence[Coded], name: str) -> list[str]:
    """Which codes count as missing, and in how many records."""
    said = []
    for column in columns:
        texts = {label(code): label(text) for code, text in column.labels.items()}
        codes = [code for code, times in column.missing.items() if times]
        listed = [f"{c} ({texts[c]})" if texts.get(c) else c for c in codes[:LISTED]]
        if codes:
            more = f" and {len(codes) - LISTED} more" * (len(codes) > LISTED)
            said.append(f"{', '.join(listed)}{more} of {column.name!r}")
    if not said:
        return []
    more = f"; and codes of {len(said) - LISTED} more columns" * (len(said) > LISTED)
    listed_all = "; ".join(said[:LISTED]) + more
    return [f"{name} calls these codes missing, and they count as such: {listed_all}."]
