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
MOST_CORRELATED = 10  # numbers of which some are missing


@dataclass(frozen=True, eq=False)
class Encoded:
    """What weights are made of; a factor that all sources share is left out.

    `y`, `x`: numbers of the sources and released records in widest spreads, nan if missing;
    `unknown`: log density of x if y is missing. A type t of records has the share types[t], and its
    number d is a mixture of normals m: heights[t, d, m] - precisions[t, d, m] (x - y)^2 / 2 are
    their log densities; `correlation` is that of the noise of the numbers. `source_codes`,
    `released_codes`: categories; chances[t, v, y, x] their probabilities, `outcomes[v]` the
    categories x, after which comes the missing one.
    """

    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    y: Floats
    x: Floats
    unknown: Floats
    types: Floats
    heights: Floats
    precisions: Floats
    correlation: Floats
    source_codes: Ints
    released_codes: Ints
    chances: Floats
    outcomes: Ints


def encode(records: Records, intruder: Intruder) -> Encoded:
    known = [key for key in intruder.keys if key.kind is not Kind.UNKNOWN]
    if not known:
        raise DataError("the intruder knows no key; describe at least one that is not unknown.")
    continuous = [key for key in known if key.continuous]
    labelled = [key for key in known if not key.continuous]
    pairs = [_numbers(records, key, _spreads(intruder, key)) for key in continuous]
    coded = [_codes(records, _by_type(intruder, key)) for key in labelled]
    same = all(_constant(np.concatenate(pair[:2])) for pair in pairs)
    if same and all(np.ptp(np.concatenate([a, b])) == 0 for a, b, _, _ in coded):
        raise DataError(
            f"the keys {', '.join(key.name for key in known)} are constant in both files, so that "
            "they tell nobody apart; name other keys."
        )
    y, x = (_stack([pair[side] for pair in pairs], size) for side, size in _sides(records))
    correlation = _correlation([key.name for key in continuous], intruder)
    if not (np.isnan(y).any() or np.isnan(x).any()):
        y, x, correlation = _whitened(y, x, correlation)
    elif intruder.correlation and len(continuous) > MOST_CORRELATED:
        raise DataError(
            f"correlated noise of {len(continuous)} numbers needs values that are not missing; "
            f"with missing ones, at most {MOST_CORRELATED} numbers are weighed."
        )
    return Encoded(
        tuple(key.name for key in continuous),
        tuple(key.name for key in labelled),
        y,
        x,
        _marginal(x),
        np.array([t.share for t in intruder.types]),
        *_mixtures(intruder, continuous, [pair[2] for pair in pairs]),
        correlation,
        _stack([c[0] for c in coded], records.sources, np.int64),
        _stack([c[1] for c in coded], records.count, np.int64),
        _tables(len(intruder.types), [c[2] for c in coded]),
        np.array([c[3] for c in coded], np.int64),
    )


def _by_type(intruder: Intruder, key: Key) -> list[Key]:
    return [t.keys.get(key.name, key) for t in intruder.types]


def _mixtures(intruder: Intruder, keys: list[Key], widest: list[float]) -> tuple[Floats, Floats]:
    """Log heights and precisions by type, key and normal, in units of the widest spread."""
    most = max((len(key.weights) for key in keys), default=1)
    shape = (len(intruder.types), len(keys), most)
    heights, precisions = np.full(shape, -np.inf), np.ones(shape)
    for d, key in enumerate(keys):
        for t, own in enumerate(_by_type(intruder, key)):
            ratios = np.array(own.spread or widest[d]) / widest[d]
            many = len(own.weights)
            heights[t, d, :many] = np.log(own.weights / ratios)
            precisions[t, d, :many] = 1 / ratios**2
    return heights, precisions


def _tables(types: int, found: list[Floats]) -> Floats:
    """One array of tables, types x keys x categories x categories, the smaller ones filled up."""
    size = max((table.shape[1] for table in found), default=1)
    tables = np.zeros((types, len(found), size, size))
    for v, table in enumerate(found):
        tables[:, v, : table.shape[1], : table.shape[2]] = table
    return tables


def _sides(records: Records) -> tuple[tuple[int, int], tuple[int, int]]:
    return (0, records.sources), (1, records.count)


def _stack(columns: list[Any], rows: int, kind: Any = np.float64) -> NDArray[Any]:
    found = np.column_stack(columns) if columns else np.zeros((rows, 0))
    return np.ascontiguousarray(found, kind)


def _constant(values: Floats) -> bool:
    present = values[~np.isnan(values)]
    return not len(present) or bool(np.ptp(present) == 0)


def _numbers(records: Records, key: Key, spreads: list[float]) -> tuple[Floats, Floats, float]:
    """Both columns in units of the widest spread, and that spread."""
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
    widest = max(spreads) if spreads else _estimated(both[0], both[1], key)
    return both[0] / widest, both[1] / widest, widest


def _spreads(intruder: Intruder, key: Key) -> list[float]:
    """Of all types; none if it is to be estimated."""
    return [spread for own in _by_type(intruder, key) for spread in own.spread or ()]


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


def _correlation(names: list[str], intruder: Intruder) -> Floats:
    correlation = np.eye(len(names))
    for pair, value in intruder.correlation.items():
        a, b = (names.index(name) for name in pair)
        correlation[a, b] = correlation[b, a] = value
    if intruder.correlation and np.linalg.eigvalsh(correlation).min() <= 1e-9:
        raise DataError("the correlations are impossible together: no noise has all of them.")
    return correlation


def _whitened(y: Floats, x: Floats, correlation: Floats) -> tuple[Floats, Floats, Floats]:
    """Coordinates in which correlated noise is independent with spread 1."""
    unit = np.eye(len(correlation))
    if (correlation == unit).all():
        return y, x, correlation
    inverse = np.linalg.inv(np.linalg.cholesky(correlation)).T
    return np.ascontiguousarray(y @ inverse), np.ascontiguousarray(x @ inverse), unit


def whitening(correlation: Floats) -> Floats:
    """Matrices that make noise independent, by which numbers are missing (bits); none if it is."""
    size = len(correlation)
    if (correlation == np.eye(size)).all():
        return np.zeros((0, size, size))
    found = np.zeros((1 << size, size, size))
    for missing in range(len(found)):
        there = np.flatnonzero([not (missing >> d) & 1 for d in range(size)])
        inside = np.linalg.cholesky(correlation[np.ix_(there, there)])
        found[missing][np.ix_(there, there)] = np.linalg.inv(inside)
    return found


def _codes(records: Records, keys: list[Key]) -> tuple[Ints, Ints, Floats, int]:
    """Codes of both columns, P[released x | source y] by type, and the number of outcomes x."""
    import pandas as pd

    name = keys[0].name
    source, released = texts(records.source[name]), texts(records.released[name])
    codes, found = pd.factorize(np.concatenate([source, released]))
    names = [str(label) for label in found]
    here, there = codes[: records.sources], codes[records.sources :]
    shared = any(names[c] for c in set(np.unique(here)) & set(np.unique(there)))
    matrices = [key.matrix for key in keys if key.matrix is not None]
    if not matrices and not shared and (released != "").any():
        raise DataError(
            f"{name!r} has no category in common in {records.names[0]} and "
            f"{records.names[1]}; code both files alike."
        )
    reached = [b for matrix in matrices for row in matrix.values() for b in row]
    named = list(dict.fromkeys([*filter(None, names), *reached]))
    place = {label: c for c, label in enumerate(named)} | {"": len(named)}
    order = np.array([place[label] for label in names], np.int64)
    here, there = order[here], order[there]
    size = len(named)
    present = sorted(set(here.tolist()) - {size})
    times = np.bincount(there, minlength=size + 1)[:size]
    tables = np.zeros((len(keys), size + 1, size + 1))
    for key, table in zip(keys, tables, strict=True):
        table[:size, :size] = _misclassified(key, named, present, records.names[0])
        table[size, :size] = times / max(times.sum(), 1)  # not known: as frequent as released
        table[:, size] = 1.0  # missing in the release: as likely for everybody
    return np.asarray(here), np.asarray(there), tables, size


def _misclassified(key: Key, named: list[str], present: list[int], where: str) -> Floats:
    """P[released x | source y] of the categories."""
    size = len(named)
    if key.matrix is None:
        table = np.full((size, size), (1 - key.keep) / max(size - 1, 1))
        np.fill_diagonal(table, key.keep if size > 1 else 1.0)
        return table
    place = {label: c for c, label in enumerate(named)}
    table = np.zeros((size, size))
    for y in present:
        if named[y] not in key.matrix:
            raise DataError(
                f"the matrix of {key.name!r} has no row for {named[y]!r}, which {where} has."
            )
        for label, chance in key.matrix[named[y]].items():
            table[y, place[label]] = chance
    return table
