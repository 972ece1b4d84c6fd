"""The narrowest width that a decomposable release leaves to the small cells of a table on disk.

    min_C n_C - max(0, sum_C n_C - sum_S n_S)

at every small cell, C the cliques and S the separators (Dobra & Fienberg 2000): two looks at all
parts, one to add the cliques up, one to judge the cells. Nothing that a search counted is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.look.progress import Progress
from discreet.table.bitmaps import GROUP
from discreet.table.graph import Graph
from discreet.table.lattice import bits
from discreet.table.stored_table import StoredTable

if TYPE_CHECKING:
    from discreet._kernels.decomposed import Margins


def narrowest_width(table: StoredTable, near: Sequence[int], small: int) -> int:
    """The narrowest width over the small cells, of the cliques of a chordal graph."""
    from discreet._kernels.decomposed import narrowest, tally

    tree = Graph(tuple(near)).junction_tree()
    cliques = _side_by_side(table, [(clique, 1) for clique in tree.nodes])
    for columns, counts in _columns(table, "cliques added up, in parts"):
        tally(columns, counts, cliques)
    held = {
        clique: cliques.tables[begin:].reshape(-1)[: math.prod(table.axes.sizes_of(clique))]
        for clique, begin in zip(tree.nodes, cliques.begins.tolist(), strict=True)
    }
    both = _side_by_side(table, [(c, 1) for c in tree.nodes] + [(s, -1) for s in tree.separators])
    both.tables[: len(cliques.tables)] = cliques.tables
    for s, begin in zip(tree.separators, both.begins[len(tree.nodes) :].tolist(), strict=True):
        home = next(clique for clique in tree.nodes if s & ~clique == 0)
        table_of = held[home].reshape(table.axes.sizes_of(home))
        gone = tuple(i for i, p in enumerate(bits(home)) if not s >> p & 1)
        summed = table_of.sum(gone).ravel()
        both.tables[begin : begin + len(summed)] = summed
    least = 2**62
    for columns, counts in _columns(table, "small cells judged, in parts"):
        least = min(least, narrowest(columns, counts, small, both))
    return least


def _side_by_side(table: StoredTable, sets: Sequence[tuple[int, int]]) -> Margins:
    from discreet._kernels.decomposed import Margins

    members = [list(bits(s)) for s, _ in sets]
    sizes = [math.prod(table.axes.sizes_of(s)) for s, _ in sets]
    return Margins(
        np.array([p for some in members for p in some], np.int64),
        np.cumsum([0, *map(len, members)]).astype(np.int64),
        np.array(table.shape, np.int64),
        np.cumsum([0, *sizes])[:-1].astype(np.int64),
        np.array([sign for _, sign in sets], np.int64),
        np.zeros(sum(sizes), np.uint32 if table.total < 2**32 else np.int64),
    )


def _columns(table: StoredTable, what: str) -> Iterator[tuple[Any, NDArray[np.int64]]]:
    """The codes of all variables (rows) and the counts, some cells at a time."""
    kind = np.min_scalar_type(max(table.shape) - 1)
    with Progress(what, -(-len(table) // GROUP)) as progress:
        for columns, counts in table.batches():
            yield np.stack([column.astype(kind, copy=False) for column in columns]), counts
            progress.step()
