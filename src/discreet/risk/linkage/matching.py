"""Spruill's matching risk: is a masked record nearest to its own source record?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.linkage.blocking import classes
from discreet.intruder.linkage.encode import Encoded
from discreet.intruder.linkage.kinds import source_numbers
from discreet.intruder.linkage.model import Intruder, Key, Kind
from discreet.intruder.linkage.records import Records, numbers
from discreet.look.result import Result
from discreet.table.cells import frame

if TYPE_CHECKING:
    from scipy.spatial import KDTree

DISTANCES = {"absolute": 1, "squared": 2, "log": 1, "log-squared": 2}
TIE = 1e-12  # distances that differ by rounding alone are equal


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
    weights: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        said = f"matched={self.matched}, released={self.released}, distance={self.distance!r}"
        return f"Matching({said}{f', weights={dict(self.weights)}' if self.weights else ''})"

    @property
    def risk(self) -> float:
        return self.matched / self.released

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row: how many matched, of how many, by which distance."""
        said: dict[str, Any] = {"matched": self.matched, "released": self.released}
        said |= {"risk": self.risk, "distance": self.distance}
        said |= {f"weight {name}": value for name, value in self.weights.items()}
        return frame({name: [value] for name, value in said.items()}, kind)

    def to_json(self) -> dict[str, Any]:
        said: dict[str, Any] = {"matched": self.matched, "released": self.released}
        said |= {"risk": self.risk, "distance": self.distance}
        return said | ({"weights": dict(self.weights)} if self.weights else {})


def matching(
    records: Records,
    intruder: Intruder,
    data: Encoded,
    *,
    distance: str = "absolute",
    weights: Mapping[str, float] | None = None,
) -> Matching:
    """How many released records are nearest to their own source record, by Spruill's rule.

        sum over keys of w |x - y| / s,  or  w (x - y)^2 / s^2

    `data` is what `identify` worked with. s is the standard deviation of the source; a category or
    label that differs counts w; `weights` are 1 unless given. "log" and "log-squared" compare the
    logarithms of lognormal keys. A missing number is taken as the source's mean; a tie is no match.

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
        raise DataError(f"the distance {distance!r} is not known; use {', '.join(DISTANCES)}.")
    if records.parents is None:
        raise DataError("matching needs the id column of both files.")
    power, given = DISTANCES[distance], dict(weights or {})
    keys = [key for key in intruder.keys if key.kind is not Kind.UNKNOWN]
    _check_weights(given, [key.name for key in keys])
    moved = [key for key in keys if key.numeric or key.kind is Kind.RANK]
    pairs = [_numbers(records, data, key, logs=distance.startswith("log")) for key in moved]
    scales = np.array([given.get(key.name, 1.0) ** (1 / power) for key in moved])
    y, x = (
        np.column_stack([np.zeros((size, 0)), *(pair[side] for pair in pairs)])
        for side, size in enumerate((records.sources, records.count))
    )
    known = ~np.isnan(y).all(0)  # a number that the source lacks tells nothing
    y, x, scales = y[:, known], x[:, known], scales[known]
    if y.shape[1]:
        mean, spread = np.nanmean(y, 0), np.nanstd(y, 0)
        scale = scales / np.where(spread > 0, spread, 1)
        y, x = (np.nan_to_num((values - mean) * scale, nan=0.0) for values in (y, x))
    told = [e for e, bare in enumerate(data.matches.bare) if not bare]
    codes = np.hstack([data.source_codes, data.matches.source[:, told]])
    seen = np.hstack([data.released_codes, data.matches.released[:, told]])
    names = [*data.categories, *(data.matches.names[e] for e in told)]
    each = np.array([given.get(name, 1.0) for name in names])
    nearest, tied = _nearest((y, codes), (x, seen), each, power)
    hit = (nearest == records.parents) & ~tied
    return Matching(int(hit.sum()), records.count, distance, given)


def _check_weights(given: Mapping[str, float], names: list[str]) -> None:
    if odd := sorted(set(given) - set(names)):
        raise DataError(f"the weight of {odd[0]!r} is of no key; the keys are {', '.join(names)}.")
    for name, value in given.items():
        if not (np.isfinite(value) and value >= 0):
            raise DataError(f"the weight of {name!r} is {value:g}; give a number from 0 on.")
    if not any(given.get(name, 1.0) > 0 for name in names):
        raise DataError("all weights are 0, so that all records are as near; give one above 0.")


def _numbers(records: Records, data: Encoded, key: Key, *, logs: bool) -> tuple[Floats, Floats]:
    """Both columns of a key, or their logarithms if it is lognormal."""
    x = numbers(records.released[key.name], key.name, "a file")
    in_logs = key.log or key.kind is Kind.LOGNORMAL
    if key.name in data.own.names:
        one = data.own.beliefs[data.own.names.index(key.name)]
        y, in_logs = one.center, one.log
    else:
        y = source_numbers(records, key)
    return (np.log(y), np.log(x)) if logs and in_logs else (y, x)


def _nearest(
    source: tuple[Floats, Ints], released: tuple[Floats, Ints], weights: Floats, power: int
) -> tuple[Ints, NDArray[np.bool_]]:
    """The nearest source of each released record, and whether another is as near.

    One tree for the numbers in each combination of categories; combinations that differ more are
    asked only for records that have nothing nearer.
    """
    from scipy.spatial import KDTree

    (y, codes), (x, seen) = source, released
    nothing = np.zeros((len(y), 0)), np.zeros((len(x), 0))
    blocks, asked = classes(codes, nothing[0]), classes(seen, nothing[1])
    members = np.split(np.argsort(blocks.of, kind="stable"), np.cumsum(blocks.times)[:-1])
    askers = np.split(np.argsort(asked.of, kind="stable"), np.cumsum(asked.times)[:-1])
    trees: dict[int, KDTree] = {}
    nearest, tied = np.full(len(x), -1, np.int64), np.zeros(len(x), bool)
    own = _same_rows(codes[blocks.first], seen[asked.first])
    least = float(weights.min(initial=np.inf))  # between two combinations
    for r, rows in enumerate(askers):
        best = np.full(len(rows), np.inf)
        for c, apart in _by_distance(codes[blocks.first], seen[asked.first[r]], weights, own[r]):
            open_ = np.flatnonzero(best >= apart - TIE)
            if not len(open_):
                break
            if c not in trees and y.shape[1]:
                trees[c] = KDTree(y[members[c]])
            ask = rows[open_]
            away, who = _ask(trees.get(c), len(members[c]), x[ask], power)
            away = away + apart
            slack = TIE * np.maximum(1, away[:, 0])
            better = away[:, 0] < best[open_] - slack
            tied[ask[~better & (away[:, 0] <= best[open_] + slack)]] = True
            tied[ask[better]] = (away[:, 1] <= away[:, 0] + slack)[better]
            nearest[ask[better]] = members[c][who[better]]
            best[open_[better]] = away[better, 0]
            if c == own[r] and least > 0 and (best < least - TIE).all():
                break
    return nearest, tied


def _same_rows(codes: Ints, seen: Ints) -> Ints:
    """The row of `codes` that is equal to each of `seen`, -1 if there is none."""
    both = classes(np.vstack([codes, seen]), np.zeros((len(codes) + len(seen), 0))).of
    found = np.full(both.max() + 1, -1, np.int64)
    found[both[: len(codes)]] = np.arange(len(codes))
    return found[both[len(codes) :]]


def _by_distance(codes: Ints, seen: Ints, weights: Floats, own: int) -> Iterator[tuple[int, float]]:
    """Combinations with their distance, the nearest first; the own one before others are looked at
    where nothing else is as near.
    """
    first = own >= 0 and bool((weights > 0).all())
    if first:
        yield int(own), 0.0
    apart = (codes != seen) @ weights
    for c in np.argsort(apart, kind="stable").tolist():
        if not (first and c == own):
            yield c, float(apart[c])


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
