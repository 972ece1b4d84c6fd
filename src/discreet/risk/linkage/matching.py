"""Spruill's matching risk: is a masked record nearest to its own source record?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.intruder.linkage.blocking import classes
from discreet.intruder.linkage.encode import Encoded
from discreet.intruder.linkage.kinds import source_numbers
from discreet.intruder.linkage.model import Intruder, Kind
from discreet.intruder.linkage.records import Records, numbers
from discreet.look.result import Result
from discreet.table.cells import frame

if TYPE_CHECKING:
    from scipy.spatial import KDTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DISTANCES = {"absolute": 1, "squared": 2}


@dataclass(frozen=True)
class Matching(Result):
    """Released records that are closer to their parent than to any other source record.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 50]})
    >>> masked = pd.DataFrame({"id": [1, 2, 3], "age": [33, 46, 52]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, masked, intruder, id="id")
    >>> found = dc.linkage.matching(records, intruder, dc.identify(records, intruder).data)
    >>> found
    Matching(matched=3, released=3, distance='absolute')
    >>> found.risk
    1.0
    """

    matched: int
    released: int
    distance: str

    @property
    def risk(self) -> float:
        return self.matched / self.released

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row: how many matched, of how many, by which distance."""
        return frame({name: [value] for name, value in self.to_json().items()}, kind)

    def to_json(self) -> dict[str, Any]:
        said = {"matched": self.matched, "released": self.released}
        return said | {"risk": self.risk, "distance": self.distance}


def matching(
    records: Records, intruder: Intruder, data: Encoded, *, distance: str = "absolute"
) -> Matching:
    """How many released records are nearest to their own source record, by Spruill's rule.

    `data` is what `identify` worked with. Distances between numbers are in standard deviations of
    the source; a category or label that differs counts 1. A missing number is taken as the
    source's mean; a tie is no match.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 50]})
    >>> masked = pd.DataFrame({"id": [1, 2, 3], "age": [33, 46, 52]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, masked, intruder, id="id")
    >>> dc.linkage.matching(records, intruder, dc.identify(records, intruder).data)
    Matching(matched=3, released=3, distance='absolute')
    """
    if distance not in DISTANCES:
        raise DataError(f"the distance {distance!r} is not known; use {' or '.join(DISTANCES)}.")
    if records.parents is None:
        raise DataError("matching needs the id column of both files.")
    moved = [key for key in intruder.keys if key.continuous or key.kind is Kind.RANK]
    y, x = (
        np.column_stack([np.zeros((size, 0)), *columns])
        for size, columns in (
            (records.sources, [source_numbers(records, key) for key in moved]),
            (records.count, [numbers(records.released[k.name], k.name, "a file") for k in moved]),
        )
    )
    if y.shape[1]:
        mean, spread = np.nanmean(y, 0), np.nanstd(y, 0)
        scale = np.where(spread > 0, spread, 1)
        y, x = (np.nan_to_num((values - mean) / scale, nan=0.0) for values in (y, x))
    told = [e for e, bare in enumerate(data.matches.bare) if not bare]
    codes = np.hstack([data.source_codes, data.matches.source[:, told]])
    seen = np.hstack([data.released_codes, data.matches.released[:, told]])
    nearest, tied = _nearest(y, codes, x, seen, DISTANCES[distance])
    hit = (nearest == records.parents) & ~tied
    return Matching(int(hit.sum()), records.count, distance)


def _nearest(
    y: Floats, codes: Ints, x: Floats, seen: Ints, power: int
) -> tuple[Ints, NDArray[np.bool_]]:
    """The nearest source of each released record, and whether another is as near.

    One tree for the numbers in each combination of categories; combinations that differ more are
    asked only for records that have nothing nearer.
    """
    from scipy.spatial import KDTree

    nothing = np.zeros((len(y), 0)), np.zeros((len(x), 0))
    blocks, asked = classes(codes, nothing[0]), classes(seen, nothing[1])
    members = np.split(np.argsort(blocks.of, kind="stable"), np.cumsum(blocks.times)[:-1])
    askers = np.split(np.argsort(asked.of, kind="stable"), np.cumsum(asked.times)[:-1])
    trees: dict[int, KDTree] = {}
    nearest, tied = np.full(len(x), -1, np.int64), np.zeros(len(x), bool)
    for r, rows in enumerate(askers):
        apart = (codes[blocks.first] != seen[asked.first[r]]).sum(1)
        best = np.full(len(rows), np.inf)
        for c in np.argsort(apart, kind="stable").tolist():
            open_ = np.flatnonzero(best >= apart[c])
            if not len(open_):
                break
            if c not in trees and y.shape[1]:
                trees[c] = KDTree(y[members[c]])
            ask = rows[open_]
            away, who = _ask(trees.get(c), len(members[c]), x[ask], power)
            away = away + apart[c]
            better, same = away[:, 0] < best[open_], away[:, 0] == best[open_]
            tied[ask[same]] = True
            tied[ask[better]] = (away[:, 1] == away[:, 0])[better]
            nearest[ask[better]] = members[c][who[better]]
            best[open_[better]] = away[better, 0]
    return nearest, tied


def _ask(tree: KDTree | None, many: int, x: Floats, power: int) -> tuple[Floats, Ints]:
    """Distances to the two nearest of so many (the second infinite if there is one only) and the
    nearest; without numbers, and so without a tree, all are as near.
    """
    if tree is None:
        far = np.zeros((len(x), 2))
        far[:, 1] = 0 if many > 1 else np.inf
        return far, np.zeros(len(x), np.int64)
    away, who = tree.query(x, k=2, p=power)
    return away**power, who[:, 0]
