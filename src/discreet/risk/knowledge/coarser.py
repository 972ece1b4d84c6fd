"""Variables that say less of a target: its categories, merged."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from discreet.table.table import Table

Codes = NDArray[np.int64]


def coarser(table: Table, target: str) -> dict[str, Codes]:
    """The variables that follow from the target: their code for each of its categories.

    By the combinations that are impossible, as of a variable that lies within another, or of one
    beside which merged categories were put; also by way of others. What is the same for all
    categories says nothing, and is left out.

    >>> table = Table.of([4, 4, 1], Hair=["Black", "Red", "Blond"]).beside(
    ...     "Hair", "Shade", {"Black": "dark", "Red": "light", "Blond": "light"})
    >>> coarser(table, "Hair")["Shade"].tolist()
    [0, 1, 1]
    """
    found: dict[str, Codes] = {target: np.arange(table.variable(target).size)}
    left = [target]
    while left:
        fine = left.pop()
        for name in table.names:
            follows = None if name in found else _follows(table, fine, name)
            if follows is not None:
                found[name] = follows[found[fine]]
                left.append(name)
    return {n: codes for n, codes in found.items() if n != target and len(set(codes.tolist())) > 1}


def finest(merged: Mapping[str, Codes]) -> dict[str, Codes]:
    """Those that do not follow from another one.

    >>> fine, coarse = np.array([0, 1, 2, 2]), np.array([0, 0, 1, 1])
    >>> list(finest({"coarse": coarse, "fine": fine, "same": fine}))
    ['fine']
    """
    kept: dict[str, Codes] = {}
    for name, codes in sorted(merged.items(), key=lambda pair: -len(set(pair[1].tolist()))):
        if not any(_determines(other, codes) for other in kept.values()):
            kept[name] = codes
    return kept


def _determines(fine: Codes, coarse: Codes) -> bool:
    pairs = set(zip(fine.tolist(), coarse.tolist(), strict=True))
    return len(pairs) == len(set(fine.tolist()))


def _follows(table: Table, fine: str, coarse: str) -> Codes | None:
    """The one category of `coarse` that each of `fine` can have."""
    a, b = table.variable(fine), table.variable(coarse)
    possible = np.ones((a.size, b.size), bool)
    for names, group in table.ruled_out.items():
        if set(names) == {fine, coarse}:
            for combination in group:
                at = dict(combination)
                possible[a.code(at[fine]), b.code(at[coarse])] = False
    if possible.all() or (possible.sum(1) > 1).any():
        return None
    return np.asarray(possible.argmax(1), np.int64)
