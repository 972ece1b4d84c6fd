"""People, cells or a cross-tab? A look before the count: cells taken for people turn a FAIL into
a PASS."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.encode import alike
from discreet.data.source import Source, engine_errors
from discreet.data.totals import is_total, words
from discreet.errors import DataError, WrongKind

LOOK = 10_000  # rows; two that are alike among them are people
CHANCE = 0.001  # that people are all different, below which they are taken for cells
COVERED = 0.5  # of all combinations, that cells without a name for their count must cover
CODES = 20  # rows from which a column of A1, A2, ... is an id

COUNTS = words(
    """n count counts cnt freq freqs frequency frequencies _freq _freq_ n_break n_obs nobs tally len
    count(*) count(1) count_star() cell_count cellcount obs_value anzahl häufigkeit haeufigkeit
    frequenz fallzahl effectif effectifs fréquence frecuencia conteo frequenza conteggio frequência
    contagem aantal antal antall lukumäärä liczba počet"""
)
# what a column of people can be called too: counts if no other column has numbers
PERHAPS = words(
    """0 value values number num cases case_count persons people population pop size total sum obs
    wert fälle faelle personen einwohner nombre valeur personnes número numero casos personas
    valore persone personer valor pessoas"""
)
WHOLE = r"^\s*(0|[1-9]\d*)(\.0+)?\s*$"  # 01 is a code


@dataclass(frozen=True)
class Head:
    """The first rows of a source; `every` if it has no more."""

    source: Source
    rows: Any
    every: bool
    coded: dict[str, tuple[NDArray[np.integer[Any]], int]] = field(default_factory=dict)

    def codes(self, name: str) -> tuple[NDArray[np.integer[Any]], int]:
        """A column as codes, and how many there are."""
        if name not in self.coded:
            column = self.rows[name].combine_chunks().dictionary_encode(null_encoding="encode")
            self.coded[name] = column.indices.to_numpy(), len(column.dictionary)
        return self.coded[name]

    def differ(self, names: Iterable[str]) -> bool:
        """Are no two rows alike in all these columns?"""
        number = self.rows.num_rows
        distinct = np.unique(alike((self.codes(name)[0] for name in names), number))
        return bool(len(distinct) == number)


def check_records(source: Source, *, known: Collection[str], aside: Collection[str] = ()) -> None:
    """Refuse cells and cross-tabs; columns that are `known` or put `aside` are no counts."""
    head = _head(source, [name for name in source.columns if name not in aside])
    names = list(head.rows.column_names)
    if head.rows.num_rows == 0 or len(names) < 2 or not head.differ(names):
        return
    numbers = [name for name in names if name not in known and holds_counts(head.rows[name])]
    if name := _named_count(head, names, numbers):
        where = source.name
        raise WrongKind(
            lambda say: (
                f"every row of {where} is different and {name!r} looks like a count: is this a "
                f"file of cells? Say {say('count', name)}, or {say('records', True)} if each row "
                "is a person."
            )
        )
    if columns := _across(head, names, numbers):
        _refuse_crosstab(source, names[0], columns)
    if name := _count_of_a_grid(head, names, numbers):
        where = source.name
        raise WrongKind(
            lambda say: (
                f"no two rows of {where} are alike when {name!r} is set aside, as in a file of "
                f"cells: are these counts? Say {say('count', name)}, or {say('records', True)} if "
                "each row is a person."
            )
        )


def holds_counts(column: Any) -> bool:
    """Whole numbers from 0 on; up to half of them may be suppressed or missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        whole = pc.match_substring_regex(column, WHOLE)
        text = pc.utf8_trim_whitespace(pc.if_else(whole, column, pa.scalar(None, kind)))
        values = text.cast(pa.float64())
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        values = column.cast(pa.float64(), safe=False)
    else:
        return False
    found = values.drop_null().to_numpy()
    found = found[np.isfinite(found)]
    counts = (found >= 0) & (found == np.floor(found))
    return bool(0 < len(column) <= 2 * len(found) and counts.all())


def _head(source: Source, names: Sequence[str]) -> Head:
    import pyarrow as pa

    try:
        rows = _first(source, names)
    except DataError:  # of a column that may not be asked for: it is left to the count
        rows = _first(source, [name for name in names if _readable(source, name)])
    flat = [f.name for f in rows.schema if not pa.types.is_nested(f.type)]
    return Head(source, rows.select(flat).slice(0, LOOK), rows.num_rows <= LOOK)


def _first(source: Source, names: Sequence[str]) -> Any:
    import pyarrow as pa

    if not names:
        return pa.table({})
    with engine_errors(source.name):
        return source.records.select(list(names)).limit(LOOK + 1).to_pyarrow()


def _readable(source: Source, name: str) -> bool:
    try:
        _first(source, [name])
    except DataError:
        return False
    return True


def _named_count(head: Head, names: Sequence[str], numbers: Sequence[str]) -> str | None:
    """A column called like a count; all rows differ in the others."""
    for name in numbers:
        called = name.strip().casefold()
        if called not in COUNTS and not (called in PERHAPS and len(numbers) == 1):
            continue
        if {str(value).strip() for value in head.rows[name].unique().to_pylist()} <= {"1", "1.0"}:
            continue  # one a row, as people are
        others = [other for other in names if other != name]
        if head.differ(others) and (head.every or _rows_differ(head.source, others)):
            return name
    return None


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
    if _has_sums(head, columns):
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


def _is_id(column: Any) -> bool:
    """A1, A2, ...: a person's, not a category."""
    return all(re.fullmatch(r"\D*\d+", str(value).strip()) for value in column.to_pylist())


def _refuse_crosstab(source: Source, row: str, columns: Sequence[str]) -> None:
    listed = ", ".join(map(repr, columns[:3])) + (", ..." if len(columns) > 3 else "")
    raise WrongKind(
        lambda say: (
            f"each row of {source.name} has a {row!r} of its own and numbers in {listed}: is this "
            f"a cross-tab? Say {say('crosstab', 'NAME')} with a name for what stands across, or "
            f"{say('records', True)} if each row is a person."
        )
    )


def _count_of_a_grid(head: Head, names: Sequence[str], numbers: Sequence[str]) -> str | None:
    """Whatever it is called: the others are a table of which most cells are listed, each once."""
    sizes, whole, rows = {}, 1, head.rows.num_rows
    for name in names:
        if (size := head.codes(name)[1]) > 1 and not _fractional(head.rows[name]):
            sizes[name], whole = size, whole * size
            if whole > rows**2 * max(sizes.values()):
                return None  # so many cells that people differ by chance
    for name in reversed(numbers):
        others, size = [other for other in sizes if other != name], sizes.get(name, 1)
        if len(others) < 2 or size < 3:
            continue
        cells = whole // size
        if by_chance(rows, cells) > CHANCE or not head.differ(others):
            continue
        if head.every:
            covered = rows >= COVERED * cells
        else:
            covered = _covers(head.source, others) and _rows_differ(head.source, others)
        if covered:
            return name
    return None


def by_chance(people: int, cells: int) -> float:
    """The most probable it can be that so many people are all in different cells.

    cells! / ((cells - people)! cells^people), which is that of equal shares (Munford 1977,
    The American Statistician 31:119).
    """
    if people > cells:
        return 0.0
    share = 1 / min(cells, 1 << 1000)  # which a float holds
    return float(np.exp(np.log1p(-share * np.arange(people)).sum()))


def _fractional(column: Any) -> bool:
    """Shares and means, which classify nobody."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        shares = pc.match_substring_regex(column, r"^\s*-?\d*\.\d+\s*$")
        return 2 * (pc.sum(shares).as_py() or 0) > len(column)
    if not pa.types.is_floating(column.type):
        return False
    values = column.drop_null().to_numpy()
    return bool((values[np.isfinite(values)] % 1 != 0).any())


def _covers(source: Source, names: Sequence[str]) -> bool:
    with engine_errors(source.name):
        records = source.records
        sizes = {f"size_{place}": records[name].nunique() for place, name in enumerate(names)}
        row = records.aggregate(rows=records.count(), **sizes).to_pyarrow().to_pylist()[0]
    rows = row.pop("rows")
    return bool(rows >= COVERED * math.prod(max(size, 1) for size in row.values()))


def _rows_differ(source: Source, names: Sequence[str]) -> bool:
    with engine_errors(source.name):
        rows = source.records.select(list(names))
        found = rows.distinct().count().to_pyarrow().as_py(), rows.count().to_pyarrow().as_py()
    return bool(found[0] == found[1])
