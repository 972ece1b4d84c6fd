"""Cells by their shape, whatever their count is called: most cells are listed, each once."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from discreet.data.figures import is_fractional
from discreet.data.head import Head
from discreet.data.source import Source, engine_errors
from discreet.data.telling import HOUSEHOLDS, IDENTIFIERS, PERHAPS, tokens

CHANCE = 0.001  # that people are all different, below which they are taken for cells
PERHAPS_CHANCE = 0.02  # the same, where they cover what follows
COVERED = 0.5  # of all combinations, that cells without a name for their count must cover
FEW = 4  # rows a category has at least, on average, in cells that cover less
MOST_COLUMNS = 60  # of which is asked which follow from others
EARLY = 500  # rows that rule out most pairs of columns


def count_of_a_grid(head: Head, names: Sequence[str], numbers: Sequence[str]) -> str | None:
    """Whatever it is called: the others are a table of which most cells are listed, each once."""
    sizes: dict[str, int] = {}
    for name in names:
        size = head.codes(name)[1]
        if size == head.rows.num_rows and tokens(name) & IDENTIFIERS:
            continue  # a person's, or a row's
        if size > 1 and not is_fractional(head.rows[name]):
            sizes[name] = size
    follows = _following(head, sizes)
    for name in reversed(numbers):
        if sizes.get(name, 1) >= 3 and _is_grid(head, sizes, follows, {name}, PERHAPS_CHANCE):
            return name
    # several figures beside each other: amounts beside the counts
    by_size = sorted(set(numbers) & sizes.keys(), key=lambda name: -sizes[name])
    for number in range(2, len(by_size) + 1):
        figures = set(by_size[:number])
        if _is_grid(head, sizes, follows, figures, CHANCE):
            called = [name for name in numbers if name in figures]
            return next((n for n in called if n.strip().casefold() in PERHAPS), called[0])
    return None


def _is_grid(
    head: Head,
    sizes: Mapping[str, int],
    follows: Mapping[str, Collection[str]],
    figures: Collection[str],
    perhaps: float,
) -> bool:
    """Without these figures, is each row a cell of its own, as people are not by chance?"""
    others = [name for name in sizes if name not in figures]
    grid = [n for n in others if not any(finer in others for finer in follows.get(n, ()))]
    if len(grid) < 2:
        return False
    rows, cells = head.rows.num_rows, math.prod(sizes[name] for name in grid)
    most = cells <= rows / COVERED
    if by_chance(rows, cells) > (perhaps if most else CHANCE) or not head.differ(others):
        return False
    if head.every:
        return bool(most or max(sizes[name] for name in grid) * FEW <= rows)
    return _covers(head.source, grid) and rows_differ(head.source, others)


def _following(head: Head, sizes: Mapping[str, int]) -> dict[str, list[str]]:
    """The columns that follow from others, and from which: of a town follows its county.

    The chance that one would be the same throughout each category of the other is at most

        p^(rows - categories)      p: the share of its largest category
    """
    if len(sizes) > MOST_COLUMNS:
        return {}
    rows, found = head.rows.num_rows, dict[str, list[str]]()
    by_size = sorted(sizes, key=lambda name: -sizes[name])  # the finest first
    early = {name: len(np.unique(head.codes(name)[0][:EARLY])) for name in by_size}
    for place, name in enumerate(by_size):
        codes, size = head.codes(name)
        share = np.bincount(codes, minlength=size).max() / rows
        for finer in by_size[:place]:
            if tokens(finer) & (IDENTIFIERS | HOUSEHOLDS):
                continue  # a person has one of everything
            if share ** (rows - sizes[finer]) > CHANCE:
                continue
            keys = head.codes(finer)[0].astype(np.int64) * size + codes
            if len(np.unique(keys[:EARLY])) > early[finer]:
                continue
            if len(np.unique(keys)) == sizes[finer]:
                found.setdefault(name, []).append(finer)
    return found


def by_chance(people: int, cells: int) -> float:
    """The most probable it can be that so many people are all in different cells.

    cells! / ((cells - people)! cells^people), which is that of equal shares (Munford 1977,
    The American Statistician 31:119).
    """
    if people > cells:
        return 0.0
    share = 1 / min(cells, 1 << 1000)  # which a float holds
    return float(np.exp(np.log1p(-share * np.arange(people)).sum()))


def _covers(source: Source, names: Sequence[str]) -> bool:
    with engine_errors(source.name):
        records = source.records
        sizes = {f"size_{place}": records[name].nunique() for place, name in enumerate(names)}
        row = records.aggregate(rows=records.count(), **sizes).to_pyarrow().to_pylist()[0]
    rows = row.pop("rows")
    return bool(rows >= COVERED * math.prod(max(size, 1) for size in row.values()))


def rows_differ(source: Source, names: Sequence[str]) -> bool:
    with engine_errors(source.name):
        rows = source.records.select(list(names))
        found = rows.distinct().count().to_pyarrow().as_py(), rows.count().to_pyarrow().as_py()
    return bool(found[0] == found[1])
