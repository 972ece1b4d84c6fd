"""Keys as numbers in units of their spread, and codes with tables of misclassification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.intruder.linkage.model import Intruder, Key, Kind
from discreet.intruder.linkage.records import Records, numbers, texts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Encoded:
    """What weights are made of; a factor that all sources share is left out.

    `y`, `x`: numbers of the sources and released records in widest spreads, nan if missing;
    `unknown`: log density of x if y is missing; `ratios`, `shares`: spreads of a mixture and their
    weights. `source_codes`, `released_codes`: categories; tables[v, y, x] their probabilities,
    `outcomes[v]` the categories x, after which comes the missing one.
    """

    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    y: Floats
    x: Floats
    unknown: Floats
    ratios: Floats
    shares: Floats
    source_codes: Ints
    released_codes: Ints
    tables: Floats
    outcomes: Ints


def encode(records: Records, intruder: Intruder) -> Encoded:
    known = [key for key in intruder.keys if key.kind is not Kind.UNKNOWN]
    if not known:
        raise DataError("the intruder knows no key; describe at least one that is not unknown.")
    continuous = [key for key in known if key.continuous]
    labelled = [key for key in known if not key.continuous]
    pairs = [_numbers(records, key) for key in continuous]
    coded = [_codes(records, key) for key in labelled]
    same = all(_constant(np.concatenate(pair[:2])) for pair in pairs)
    if same and all(np.ptp(np.concatenate([a, b])) == 0 for a, b, _, _ in coded):
        raise DataError(
            f"the keys {', '.join(key.name for key in known)} are constant in both files, so that "
            "they tell nobody apart; name other keys."
        )
    y, x = (_stack([pair[side] for pair in pairs], size) for side, size in _sides(records))
    if intruder.correlation:
        y, x = _whitened(y, x, [key.name for key in continuous], intruder)
    types = max((len(key.weights) for key in continuous), default=1)
    ratios, shares = np.ones((len(pairs), types)), np.zeros((len(pairs), types))
    for d, (key, pair) in enumerate(zip(continuous, pairs, strict=True)):
        ratios[d, : len(pair[2])] = pair[2] / pair[2].max()
        shares[d, : len(key.weights)] = key.weights
    shape = [max((t.shape[axis] for *_, t, _ in coded), default=1) for axis in (0, 1)]
    tables = np.zeros((len(coded), *shape))
    for v, (*_, table, _) in enumerate(coded):
        tables[v, : table.shape[0], : table.shape[1]] = table
    return Encoded(
        tuple(key.name for key in continuous),
        tuple(key.name for key in labelled),
        y,
        x,
        _marginal(x),
        ratios,
        shares,
        _stack([c[0] for c in coded], records.sources, np.int64),
        _stack([c[1] for c in coded], records.count, np.int64),
        tables,
        np.array([c[3] for c in coded], np.int64),
    )


def _sides(records: Records) -> tuple[tuple[int, int], tuple[int, int]]:
    return (0, records.sources), (1, records.count)


def _stack(columns: list[Any], rows: int, kind: Any = np.float64) -> NDArray[Any]:
    found = np.column_stack(columns) if columns else np.zeros((rows, 0))
    return np.ascontiguousarray(found, kind)


def _constant(values: Floats) -> bool:
    present = values[~np.isnan(values)]
    return not len(present) or bool(np.ptp(present) == 0)


def _numbers(records: Records, key: Key) -> tuple[Floats, Floats, Floats]:
    """Both columns in units of the widest spread, and the spreads."""
    both = []
    for table, where in ((records.source, 0), (records.released, 1)):
        values = numbers(table[key.name], key.name, records.names[where])
        if key.kind is Kind.LOGNORMAL:
            if (low := values[~np.isnan(values)].min(initial=1)) <= 0:
                raise DataError(
                    f"{key.name!r} of {records.names[where]} has {low:g}; a lognormal key needs "
                    "numbers above 0."
                )
            values = np.log(values)
        both.append(values)
    given = (_estimated(both[0], both[1], key),) if key.spread is None else key.spread
    spreads = np.array(given, np.float64)
    return both[0] / spreads.max(), both[1] / spreads.max(), spreads


def _estimated(source: Floats, released: Floats, key: Key) -> float:
    """Noise adds its variance: that of the released values less that of the source."""
    extra = float(np.nanvar(released) - np.nanvar(source)) if len(released) > 1 else 0.0
    if not extra > 0:
        raise DataError(
            f"the spread of {key.name!r} cannot be estimated: released values vary no more than "
            "those of the source; give it as a number."
        )
    return float(np.sqrt(extra))


def _marginal(x: Floats) -> Floats:
    """What is believed of a masked value whose source value is not known: a normal density."""
    if not x.shape[1]:
        return np.zeros_like(x)
    missing = np.isnan(x)
    filled = np.where(missing, 0, x)
    many = np.maximum((~missing).sum(0), 1)
    mean = filled.sum(0) / many
    spread = np.sqrt(np.where(missing, 0, (x - mean) ** 2).sum(0) / many + 1)
    return np.asarray(-(((filled - mean) / spread) ** 2) / 2 - np.log(spread))


def _whitened(y: Floats, x: Floats, names: list[str], intruder: Intruder) -> tuple[Floats, Floats]:
    """Coordinates in which correlated noise is independent with spread 1."""
    if np.isnan(y).any() or np.isnan(x).any():
        raise DataError("correlated noise needs numbers without missing values.")
    correlation = np.eye(len(names))
    for pair, value in intruder.correlation.items():
        a, b = (names.index(name) for name in pair)
        correlation[a, b] = correlation[b, a] = value
    if np.linalg.eigvalsh(correlation).min() <= 1e-9:
        raise DataError("the correlations are impossible together: no noise has all of them.")
    inverse = np.linalg.inv(np.linalg.cholesky(correlation)).T
    return np.ascontiguousarray(y @ inverse), np.ascontiguousarray(x @ inverse)


def _codes(records: Records, key: Key) -> tuple[Ints, Ints, Floats, int]:
    """Codes of both columns, P[released x | source y], and the number of outcomes x."""
    import pandas as pd

    source, released = texts(records.source[key.name]), texts(records.released[key.name])
    codes, found = pd.factorize(np.concatenate([source, released]))
    names = [str(name) for name in found]
    here, there = codes[: records.sources], codes[records.sources :]
    shared = set(np.unique(here)) & set(np.unique(there))
    if key.matrix is None and not any(names[c] for c in shared) and (released != "").any():
        raise DataError(
            f"{key.name!r} has no category in common in {records.names[0]} and "
            f"{records.names[1]}; code both files alike."
        )
    named = [name for name in names if name]
    if key.matrix is not None:
        named = list(dict.fromkeys([*named, *(b for row in key.matrix.values() for b in row)]))
    place = {name: c for c, name in enumerate(named)} | {"": len(named)}
    order = np.array([place[name] for name in names], np.int64)
    here, there = order[here], order[there]
    size = len(named)
    table = np.zeros((size + 1, size + 1))
    if key.matrix is not None:
        for y in set(here.tolist()) - {size}:
            if named[y] not in key.matrix:
                raise DataError(
                    f"the matrix of {key.name!r} has no row for {named[y]!r}, which "
                    f"{records.names[0]} has."
                )
            for name, chance in key.matrix[named[y]].items():
                table[y, place[name]] = chance
    else:
        table[:size, :size] = (1 - key.keep) / (size - 1) if size > 1 else 0.0
        np.fill_diagonal(table[:size, :size], key.keep if size > 1 else 1.0)
    times = np.bincount(there, minlength=size + 1)[:size]
    table[size, :size] = times / max(times.sum(), 1)  # not known: as frequent as released
    table[:, size] = 1.0  # missing in the release: as likely for everybody
    return np.asarray(here), np.asarray(there), table, size
