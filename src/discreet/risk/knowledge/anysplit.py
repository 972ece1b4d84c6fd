"""The least that may be left to know, in whatever way merged categories are split."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.risk.knowledge.coarser import Codes
from discreet.risk.knowledge.safest import Beliefs
from discreet.risk.uncertainty import Uncertainty
from discreet.table.table import Table

MOST_SPLITS = 50_000  # of all groups together


class TooMany(DataError):
    """More splits than can be tried."""


def worst_splits(
    table: Table,
    target: str,
    uncertainty: Uncertainty,
    group: Sequence[str],
    merged: Mapping[str, Codes],
    counts: NDArray[np.float64],
) -> list[tuple[str, float]]:
    """For each group with people: min U over beliefs with the merged categories' shares.

    U is quasi-concave, so the least is where each merged category is all in one of its own.
    `counts` are over the group and then the merged variables that are not in it.

    >>> table = Table.of([4, 4, 2], Hair=["Black", "Red", "Blond"]).beside(
    ...     "Hair", "Shade", {"Black": "dark", "Red": "light", "Blond": "light"})
    >>> from discreet.risk.knowledge.coarser import coarser
    >>> from discreet.risk.uncertainty import Largest
    >>> worst_splits(table, "Hair", Largest(), [], coarser(table, "Hair"), np.array([4.0, 6.0]))
    [('all', 0.4)]
    """
    sizes = [table.variable(name).size for name in group]
    people = table.margin(group).reorder(group).dense() if group else np.array(table.total)
    categories = table.variable(target).categories
    free = [name for name in merged if name not in group]
    lines = np.reshape(counts, (math.prod(sizes), -1))
    shape = [table.variable(name).size for name in free]
    found, tried = [], 0
    for place, cell in enumerate(np.ndindex(*sizes)):
        if not people[cell]:
            continue
        share = (lines[place] / lines[place].sum()).reshape(shape)
        at = dict(zip(group, cell, strict=True))
        able = [
            t
            for t in range(len(categories))
            if all(codes[t] == at[name] for name, codes in merged.items() if name in at)
        ]
        members: dict[tuple[int, ...], list[int]] = {}
        for t in able:
            members.setdefault(tuple(int(merged[name][t]) for name in free), []).append(t)
        held = [(share[cell_of], ts) for cell_of, ts in members.items() if share[cell_of] > 0]
        tried += math.prod(len(ts) for _, ts in held)
        if tried > MOST_SPLITS:
            raise TooMany(
                f"the merged categories of {target} can be split in more than {MOST_SPLITS:,} ways."
            )
        corners = np.zeros((math.prod(len(ts) for _, ts in held), len(categories)))
        for row, chosen in zip(corners, product(*(ts for _, ts in held)), strict=True):
            for (mass, _), t in zip(held, chosen, strict=True):
                row[t] = mass
        least, _ = Beliefs(uncertainty, categories, corners).lowest()
        label = ", ".join(
            table.variable(name).categories[code] for name, code in zip(group, cell, strict=True)
        )
        found.append((label or "all", least))
    return found
