"""Files of records, read to be masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

from discreet.data.codebook import MISSING, Codebook, Missing
from discreet.data.count import count_records
from discreet.data.encode import called, check_alike, check_hierarchy
from discreet.data.frames import label
from discreet.data.hierarchy import Hierarchy
from discreet.data.reading import PEOPLE, How, Reading
from discreet.data.roles import check_released
from discreet.data.source import engine_errors
from discreet.data.totals import check_totals
from discreet.errors import DataError
from discreet.masks.records.file import RecordFile
from discreet.table.codings import check_nestings

TAKES = tuple(name for name in PEOPLE if name != "bands")


def read_file(
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    household: str | None = None,
    weight: str | None = None,
    known: Sequence[str] = (),
    **how: Unpack[How],
) -> RecordFile:
    """A file or several, a frame, or a table of a database, with hierarchies and weights of
    the codebook, and missing where it says so. What looks like cells is refused unless `records`
    says that each row is a person, and a category called Total unless `totals` is "keep"; columns
    that `without` names are left out. `known` are columns that something else speaks of, such as
    keys.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [31, 47, 50], "sex": ["f", "m", "f"]})
    >>> read_file(people, columns=["sex"])
    RecordFile(3 records: sex)
    """
    said = Reading.of(how, takes=TAKES)
    aside = [name for name in (household, weight) if name]
    opened = said.open(data, aside=aside)
    source, book = opened.source, opened.book
    spoken = {*opened.stated.entries, *known, *(columns or ())}
    opened.check_people()
    weight = weight or book.weights
    left = [name for name in source.columns if name not in opened.without]
    kept = list(columns or left)
    if both := [name for name in kept if name in opened.without]:
        raise DataError(f"column {both[0]!r} is named, and left out; say one.")
    chosen = list(dict.fromkeys([*kept, *(name for name in (household, weight) if name)]))
    check_released(source, kept, accepted={*spoken, *aside, *([weight] if weight else [])})
    with engine_errors(source.name):
        frame = source.records.select(*chosen).to_pandas()
    known_values = {name: _different(frame[name], source.name) for name in kept}
    check_totals(known_values.items(), said.totals, source.name, book)
    for name, values in known_values.items():
        if book.missing_values or book.entry(name).labels:
            texts = called(name, values, book, source.name)
            gone = [one for one, text in zip(values, texts, strict=True) if text == MISSING]
            frame[name] = frame[name].mask(frame[name].isin(gone))
            check_alike(name, texts, book, source.name)
        else:
            check_alike(name, [v for v in values if isinstance(v, str)], book, source.name)
    outer = {entry.within for entry in book.entries.values()}
    tied = [name for name in chosen if name in outer or book.entry(name).within]
    if len(tied) > 1:
        cells = count_records(source, tied, replace(book, missing=Missing.CATEGORY))
        check_nestings(cells.variables, cells.codes, cells.counts, book)
    hierarchies = {
        name: _of_codes(name, frame[name].unique().tolist(), book, source.name)
        for name, entry in book.entries.items()
        if entry.hierarchy is not None and name in chosen
    }
    return RecordFile(frame, hierarchies, household, weight)


def _different(column: Any, where: str) -> list[Any]:
    """Each value of a column once."""
    try:
        return list(column.unique().tolist())
    except TypeError:
        raise DataError(
            f"{column.name!r} of {where} holds lists or several values in one; make it text, or "
            f"leave it out with --without {column.name}."
        ) from None


def _of_codes(name: str, values: Sequence[Any], book: Codebook, where: str) -> Hierarchy:
    """The hierarchy of a column for the codes that stand in the file, where the codebook's is one
    of their labels.
    """
    entry = book.entry(name)
    assert entry.hierarchy is not None
    texts = called(name, values, book, where)
    named = {label(v): t for v, t in zip(values, texts, strict=True) if t != MISSING}
    check_hierarchy(name, list(named.values()), entry)
    return entry.hierarchy.of_codes(named.items())
