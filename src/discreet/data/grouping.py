"""One GROUP BY inside the engine, or one a part of the records where they are kept on disk."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from discreet.data.checkpoint import Checkpoint
from discreet.data.source import Source, engine_errors
from discreet.errors import DataError

PARTS = 16  # at most
RECORDS = 1_000_000  # that make a part of their own
VALUES = 1_000  # of a column that divides records into parts, at most

Kept = Callable[[Any], Any]


def grouped(
    source: Source,
    records: Any,
    columns: Sequence[str],
    found: Callable[[Any], dict[str, Any]],
    checkpoint: Checkpoint | None,
    beside: Sequence[str] = (),
) -> Any:
    """Rows alike in `columns` and what is `found` of each, as an Arrow table; its first is a count.

    `beside` names the columns that are asked about and not grouped by. With a checkpoint the
    records are divided by the values of some columns, so that no cell is in two parts.
    """
    names = list(columns)

    def asked(rows: Any) -> Any:
        return rows.group_by(names).aggregate(**found(rows))

    with engine_errors(source.name):
        if checkpoint is None:
            return asked(records).to_pyarrow()
        number = int(records.count().to_pyarrow().as_py())
        kept = _division(records, names, number)
        queries = [asked(_among(records, conditions)) for conditions in kept]
        tables = checkpoint.parts(
            source,
            [*names, *beside],
            stable(records, asked(records)),
            [stable(records, query) for query in queries],
            lambda part: queries[part].to_pyarrow(),
        )
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = pa.concat_tables(tables)
    if (pc.sum(cells.column(len(names))).as_py() or 0) != number:
        raise DataError(
            f"{source.name} changed while it was counted: its parts do not add up; remove "
            f"{str(checkpoint.folder)!r} and count again."
        )
    return cells


def _among(records: Any, conditions: Sequence[Kept]) -> Any:
    return records.filter(*(each(records) for each in conditions)) if conditions else records


def stable(records: Any, asked: Any) -> str:
    """The query, without names that differ from one run to the next."""
    text = str(records.get_backend().compile(asked))
    return re.sub(r"(discreet|ibis_\w*memtable)_[0-9a-z]+", "records", text)


def _division(records: Any, columns: Sequence[str], number: int) -> list[list[Kept]]:
    """Lists of conditions: every record keeps all of exactly one list."""
    wanted = max(1, min(PARTS, number // RECORDS))
    kinds = {name: records[name].type() for name in columns}
    plain = [n for n, k in kinds.items() if k.is_string() or k.is_integer() or k.is_boolean()]
    parts: list[list[Kept]] = [[]]
    if wanted == 1 or not plain:
        return parts
    asked = {f"size_{place}": records[name].nunique() for place, name in enumerate(plain)}
    sizes = records.aggregate(**asked).to_pyarrow().to_pylist()[0]
    known = {name: sizes[f"size_{place}"] for place, name in enumerate(plain)}
    useful = [name for name in plain if 2 <= known[name] <= VALUES]
    for name in sorted(useful, key=lambda name: (-min(known[name], wanted), name)):
        bins = min(known[name], math.ceil(wanted / len(parts)))
        if bins < 2:
            break
        more = _by_values(records, name, bins)
        parts = [[*part, condition] for part in parts for condition in more]
    return parts


def _by_values(records: Any, name: str, bins: int) -> list[Kept]:
    """About as many records in each; the last has all that the others have not, null too."""
    from discreet.data.frames import label

    found = records[name].value_counts(name="n").to_pyarrow()
    pairs = zip(found[0].to_pylist(), found[1].to_pylist(), strict=True)
    rows = sorted(((v, n) for v, n in pairs if v is not None), key=lambda r: (-r[1], label(r[0])))
    listed: list[list[Any]] = [[] for _ in range(bins)]
    loads = [0] * bins
    for value, times in rows:
        place = loads.index(min(loads))
        listed[place].append(value)
        loads[place] += times
    others = [value for values in listed[:-1] for value in values]
    last: Kept = lambda rows: (~rows[name].isin(others)).fill_null(True)  # noqa: E731
    return [*(_one_of(name, values) for values in listed[:-1]), last]


def _one_of(name: str, values: Sequence[Any]) -> Kept:
    return lambda rows: rows[name].isin(values).fill_null(False)
