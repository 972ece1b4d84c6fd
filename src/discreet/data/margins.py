"""Many margins in one pass: GROUP BY GROUPING SETS, with a threshold where few cells are wanted.

Where the full cross-classification is small, it is counted once and summed; where it would be too
large, every margin is counted by itself, many in one query. A sample of the records decides.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.checkpoint import Checkpoint
from discreet.data.codebook import Codebook, Missing, Variable
from discreet.data.count import Counted, encode_cells
from discreet.data.encode import encode, places
from discreet.data.fingerprint import free_name
from discreet.data.frames import label
from discreet.data.grouping import grouped, stable
from discreet.data.source import Source, engine_errors
from discreet.errors import DataError

SAMPLE = 100_000  # records that are looked at
MOST_CELLS = 20_000_000  # of the full cross-classification, and of the margins of one query
SETS = 64  # margins in one query, at most
BITS = 30  # columns in one mask of those that are summed over
ENGINES = ("duckdb", "postgres", "pyspark")  # that have grouping sets


@dataclass(frozen=True)
class Limits:
    """Counts that are wanted: from `least` to `most`, none for no end."""

    least: int = 1
    most: int | None = None

    def __post_init__(self) -> None:
        if self.least < 1 or (self.most is not None and self.most < self.least):
            raise DataError(
                f"counts from {self.least} to {self.most} are asked for; give whole numbers from 1 "
                "on, the first not above the second."
            )

    @property
    def all(self) -> bool:
        return self.least == 1 and self.most is None

    def hold(self, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.asarray((counts >= self.least) & (counts <= (self.most or counts.max(initial=1))))


@dataclass(frozen=True)
class Coded:
    """A column whose values are known: its variable, and the code of each label."""

    variable: Variable
    codes: dict[str, int]
    gone: frozenset[str]  # labels that are missing and not counted
    apart: bool  # do no two values have one code?


def count_margins(
    source: Source,
    margins: Sequence[Sequence[str]],
    codebook: Codebook,
    limits: Limits,
    checkpoint: Checkpoint | None = None,
) -> list[Counted]:
    """Each margin as it is counted by itself, with the cells that are within the limits only."""
    columns = list(dict.fromkeys(name for names in margins for name in names))
    singles, rows = _one_way(source, columns, checkpoint)
    coded = {name: _coded(source, name, singles[name], codebook) for name in columns}
    sizes = {name: len(singles[name]) for name in columns}
    if full_cells(source, columns, sizes, rows) <= MOST_CELLS:
        name = free_name(columns)
        cells = grouped(
            source, source.records, columns, lambda r: {name: r.count()}, checkpoint
        )  # fmt: skip
        whole = encode_cells(
            source,
            cells.select(range(len(columns))),
            cells.column(len(columns)).to_numpy().astype(np.int64),
            replace(codebook, missing=Missing.CATEGORY),
        )
        at = [[columns.index(name) for name in names] for names in margins]
        return [_summed(whole, places, coded, limits) for places in at]
    # values that are one category must be added up before a threshold is held against them
    pushed = limits if all(each.apart for each in coded.values()) else Limits()
    batches = [[margins[place] for place in batch] for batch in _batches(margins, sizes, rows)]
    tables = _grouping_sets(source, batches, pushed, checkpoint)
    return [
        _of_values(source, names, cells, coded, limits)
        for names, cells in zip(margins, tables, strict=True)
    ]


def full_cells(
    source: Source, columns: Sequence[str], sizes: dict[str, int], rows: int
) -> int:  # fmt: skip
    """About how many cells the full cross-classification has, and rarely more than that.

    At most the combinations that there are, and at most the records; of the first records a share
    is different, and of more records a smaller one.
    """
    possible = math.prod(sizes[name] for name in columns)
    if min(possible, rows) <= MOST_CELLS:
        return min(possible, rows)
    with engine_errors(source.name):
        some = source.records.select(list(columns)).limit(SAMPLE)
        different = int(some.distinct().count().to_pyarrow().as_py())
    return min(possible, rows * different // min(SAMPLE, rows))


def _one_way(
    source: Source, columns: Sequence[str], checkpoint: Checkpoint | None
) -> tuple[dict[str, Any], int]:
    """The values of every column, and the number of records."""
    singles = [[name] for name in columns]
    batches = [singles[start : start + SETS] for start in range(0, len(columns), SETS)]
    tables = list(_grouping_sets(source, batches, Limits(), checkpoint))
    values = {name: table.column(0) for name, table in zip(columns, tables, strict=True)}
    rows = int(tables[0].column(1).to_numpy().sum())
    if rows == 0:
        raise DataError(f"{source.name} has no records; it needs at least one below its header.")
    return values, rows


def _coded(source: Source, name: str, values: Any, codebook: Codebook) -> Coded:
    column = encode(name, values, codebook, source.orders.get(name, ()), source.name)
    labels = [label(value) for value in values.to_pylist()]
    drop = codebook.missing is Missing.DROP
    gone = frozenset(t for t, m in zip(labels, column.missing, strict=True) if m and drop)
    kept = [int(c) for c, t in zip(column.codes, labels, strict=True) if t not in gone]
    codes = {t: int(c) for t, c in zip(labels, column.codes, strict=True)}
    return Coded(column.variable, codes, gone, len(set(kept)) == len(kept))


def _of_values(
    source: Source, names: Sequence[str], cells: Any, coded: dict[str, Coded], limits: Limits
) -> Counted:
    """A margin from cells of values."""
    counts = cells.column(len(names)).to_numpy().astype(np.int64)
    codes = np.empty((len(counts), len(names)), np.uint16)
    gone = np.zeros(len(counts), bool)
    for place, name in enumerate(names):
        index, distinct = places(f"{name!r} of {source.name}", cells.column(place))
        labels = [label(value) for value in distinct]
        if strange := [text for text in labels if text not in coded[name].codes]:
            raise DataError(
                f"{source.name} changed while it was counted: {strange[0]!r} of {name!r} is new; "
                "count it when nobody writes to it."
            )
        codes[:, place] = np.array([coded[name].codes[t] for t in labels], np.uint16)[index]
        gone |= np.array([t in coded[name].gone for t in labels], bool)[index]
    variables = tuple(coded[name].variable for name in names)
    return _limited(
        Counted(variables, codes[~gone], counts[~gone], int(counts[gone].sum())), limits
    )


def _summed(whole: Counted, at: Sequence[int], coded: dict[str, Coded], limits: Limits) -> Counted:
    """A margin of all cells; records with a missing value are left out if these are dropped."""
    columns = [whole.variables[place] for place in at]
    made = [coded[variable.name].variable for variable in columns]
    codes = np.empty((len(whole.counts), len(at)), np.uint16)
    gone = np.zeros(len(whole.counts), bool)
    for place, (old, new) in enumerate(zip(columns, made, strict=True)):
        known = {category: code for code, category in enumerate(new.categories)}
        moved = np.array([known.get(category, -1) for category in old.categories])
        own = moved[whole.codes[:, at[place]]]
        gone |= own < 0
        codes[:, place] = np.maximum(own, 0)
    counts = whole.counts
    return _limited(
        Counted(tuple(made), codes[~gone], counts[~gone], int(counts[gone].sum())), limits
    )  # fmt: skip


def _limited(cells: Counted, limits: Limits) -> Counted:
    """Cells that come twice added up, and those beyond the limits left out."""
    sizes = np.array([variable.size for variable in cells.variables])
    codes = cells.codes.astype(np.min_scalar_type(int(sizes.max()) - 1))
    if not len(codes):
        return replace(cells, codes=codes)
    order = np.lexsort(codes.T[::-1])
    codes, counts = codes[order], cells.counts[order]
    new = np.ones(len(codes), bool)
    new[1:] = (codes[1:] != codes[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    counts = np.add.reduceat(counts, starts)
    kept = limits.hold(counts)
    return replace(cells, codes=codes[starts][kept], counts=counts[kept])


def _batches(
    margins: Sequence[Sequence[str]], sizes: dict[str, int], rows: int
) -> Iterator[list[int]]:
    """Margins whose cells together are not too many for one query."""
    batch: list[int] = []
    load = 0
    for place, names in enumerate(margins):
        cells = min(rows, math.prod(sizes[name] for name in names))
        if batch and (load + cells > MOST_CELLS or len(batch) == SETS):
            yield batch
            batch, load = [], 0
        batch.append(place)
        load += cells
    if batch:
        yield batch


def _grouping_sets(
    source: Source,
    batches: Sequence[Sequence[Sequence[str]]],
    limits: Limits,
    checkpoint: Checkpoint | None,
) -> Iterator[Any]:
    """Of each margin its columns and count, as an Arrow table; one query a batch."""
    if source.engine not in ENGINES:
        yield from (_alone(source, names, limits) for batch in batches for names in batch)
        return
    asked = [_query(source, batch, limits) for batch in batches]
    kept = None
    with engine_errors(source.name):
        if checkpoint is not None:
            plan = [stable(source.records, query.cells) for query in asked]
            columns = list(dict.fromkeys(name for batch in batches for s in batch for name in s))
            rows = stable(source.records, source.records.select(columns))
            said = f"{limits} {[list(names) for batch in batches for names in batch]} of {rows}"
            kept = checkpoint.parts(
                source, columns, said, plan, lambda part: asked[part].cells.to_pyarrow()
            )
        for place, query in enumerate(asked):
            cells = query.cells.to_pyarrow() if kept is None else kept[place]
            yield from (query.margin(cells, names) for names in batches[place])


def _alone(source: Source, names: Sequence[str], limits: Limits) -> Any:
    """A margin by a query of its own, for engines without grouping sets."""
    count = free_name(names)
    with engine_errors(source.name):
        cells = source.records.group_by(list(names)).aggregate(**{count: source.records.count()})
        if not limits.all:
            cells = cells.filter(cells[count] >= limits.least)
        if limits.most is not None:
            cells = cells.filter(cells[count] <= limits.most)
        return cells.to_pyarrow()


@dataclass(frozen=True)
class Query:
    """The cells of several margins, one below the other.

        SELECT a, b, GROUPING(a) + 2 GROUPING(b), COUNT(*) ... GROUP BY GROUPING SETS ((a, b), (a))

    A null is a value or stands for a sum: the masks of columns that are summed over tell them
    apart.
    """

    cells: Any
    columns: Sequence[str]
    masks: Sequence[str]
    count: str

    def margin(self, cells: Any, names: Sequence[str]) -> Any:
        """The rows of one of them."""
        inside = np.ones(cells.num_rows, bool)
        for place, mask in enumerate(self.masks):
            some = self.columns[place * BITS : (place + 1) * BITS]
            wanted = sum(1 << bit for bit, name in enumerate(some) if name not in names)
            inside &= cells[mask].to_numpy() == wanted
        return cells.select([*names, self.count]).filter(inside)


def _query(source: Source, margins: Sequence[Sequence[str]], limits: Limits) -> Query:
    import sqlglot as sg
    import sqlglot.expressions as sge

    columns = list(dict.fromkeys(name for names in margins for name in names))
    backend = source.records.get_backend()
    rows = source.records.select(columns)
    backend._run_pre_execute_hooks(rows)  # tables in memory become known to the engine
    inner: Any = sg.parse_one(backend.compile(rows), dialect=backend.dialect)

    def column(name: str) -> sge.Column:
        return sge.column(sg.to_identifier(name, quoted=True), table="r", quoted=True)

    def mask(names: Sequence[str]) -> sge.Expression:
        """GROUPING is 1 where a column is summed over."""
        total: sge.Expression = sge.Literal.number(0)
        for place, name in enumerate(names):
            bit = sge.cast(sge.Grouping(expressions=[column(name)]), "bigint")
            term = sge.Mul(this=bit, expression=sge.Literal.number(1 << place))
            total = sge.Add(this=total, expression=term)
        return total

    count = free_name(columns)
    masks: list[str] = []
    chosen: list[Any] = [column(name) for name in columns]
    for start in range(0, len(columns), BITS):
        masks.append(free_name([*columns, count, *masks]))
        chosen.append(sge.alias_(mask(columns[start : start + BITS]), masks[-1], quoted=True))
    number = sge.Count(this=sge.Star())
    chosen.append(sge.alias_(number, count, quoted=True))
    sets = [sge.Tuple(expressions=[column(name) for name in names]) for names in margins]
    query = sge.select(*chosen).from_(inner.subquery("r"))
    query.set("group", sge.Group(grouping_sets=[sge.GroupingSets(expressions=sets)]))
    if limits.least > 1:
        query = query.having(sge.GTE(this=number, expression=sge.Literal.number(limits.least)))
    if limits.most is not None:
        query = query.having(sge.LTE(this=number, expression=sge.Literal.number(limits.most)))
    schema = {name: kind.copy(nullable=True) for name, kind in rows.schema().items()}
    schema |= dict.fromkeys([*masks, count], "int64")
    cells = backend.sql(query.sql(dialect=backend.dialect), schema=schema)
    return Query(cells, columns, masks, count)
