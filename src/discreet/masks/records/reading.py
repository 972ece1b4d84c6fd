"""Files of records, read to be masked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from discreet.data.codebook import Codebook
from discreet.data.count import check_column
from discreet.data.kind import check_records
from discreet.data.labelled import check_weight
from discreet.data.roles import named
from discreet.data.source import engine_errors
from discreet.data.sources import open_source
from discreet.masks.records.file import RecordFile
from discreet.table.read import books


def read_file(
    data: Any,
    *,
    codebook: Codebook | str | Path | None = None,
    table: str | None = None,
    columns: Sequence[str] | None = None,
    household: str | None = None,
    weight: str | None = None,
    records: bool = False,
    without: str | Sequence[str] | None = None,
) -> RecordFile:
    """A file or several, a frame, or a table of a database, with hierarchies and weights of
    the codebook. What looks like cells is refused unless `records` says that each row is a person;
    columns that `without` names are left out.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"age": [31, 47, 50], "sex": ["f", "m", "f"]})
    >>> read_file(people, columns=["sex"])
    RecordFile(3 records: sex)
    """
    stated, source = books(codebook, open_source(data, table=table))
    book = stated.over(source.codebook)
    book.check_columns(source.columns)
    said = [name for name in (household, weight or stated.weights) if name]
    weight = weight or book.weights
    aside = [name for name in (household, weight) if name]
    if not records:
        if weight not in said:
            check_weight(source)
        check_records(source, known={*stated.entries, *said, *(columns or ())}, aside=said)
    left_out = named(without, source.columns)
    for name in left_out:
        check_column(source, name)
    kept = columns or [name for name in source.columns if name not in left_out]
    chosen = list(dict.fromkeys([*kept, *aside]))
    with engine_errors(source.name):
        frame = source.records.select(*chosen).to_pandas()
    hierarchies = {
        name: entry.hierarchy
        for name, entry in book.entries.items()
        if entry.hierarchy is not None and name in chosen
    }
    return RecordFile(frame, hierarchies, household, weight)
