"""Keys as numbers in units of their spread, and codes with tables of misclassification."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.linkage.believed import own_beliefs, own_keys
from discreet.intruder.linkage.kinds import (
    MATCHED,
    matched,
    mixed_up,
    never,
    presence,
    released_labels,
    source_labels,
    source_numbers,
)
from discreet.intruder.linkage.matches import Matches, joined
from discreet.intruder.linkage.model import By, Intruder, Key, Kind
from discreet.intruder.linkage.own import Own
from discreet.intruder.linkage.ranks import Ranks, ranked
from discreet.intruder.linkage.reading import TYPED
from discreet.intruder.linkage.records import Records, numbers
from discreet.intruder.linkage.tables import codes_of, tables_of

Labels = NDArray[np.object_]
MOST_CORRELATED = 10  # numbers of which some are missing
MOST_CELLS = 10_000_000  # of a table
FEW_LABELS = 1_000  # of a table that can do without


@dataclass(frozen=True, eq=False)
class Encoded:
    """What weights are made of; a factor that all sources share is left out.

    `y`, `x`: numbers of the sources and released records in widest spreads, nan if missing;
    `unknown`: log density of x if y is missing. A type t of records has the share types[t], and its
    number d is a mixture of normals m: heights[t, d, m] - precisions[t, d, m] (x - y)^2 / 2 are
    their log densities; `correlation` is that of the noise of the numbers. `source_codes`,
    `released_codes`: categories; chances[t, v, y, x] their probabilities, `outcomes[v]` the
    categories x, after which comes the missing one. `matches`: labels that are equal or not;
    `ranks`: numbers whose ranks moved; `own`: numbers that are believed person by person.
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
    matches: Matches
    ranks: Ranks
    own: Own = field(default_factory=Own)


def encode(records: Records, intruder: Intruder) -> Encoded:
    known = [key for key in intruder.keys if key.kind is not Kind.UNKNOWN]
    if not known:
        raise DataError("the intruder knows no key; describe at least one that is not unknown.")
    _check_types(intruder)
    own, alone = own_beliefs(records, intruder), own_keys(intruder)
    continuous = [key for key in known if key.continuous and key not in alone]
    moved = [key for key in known if key.kind is Kind.RANK]
    whole = [key for key in known if key.kind in MATCHED]
    labelled = [key for key in known if key.kind in (Kind.CATEGORY, Kind.SWAPPED)]
    tabled = [key for key in labelled if _has_table(records, intruder, key)]
    pairs = [_numbers(records, key, _spreads(intruder, key)) for key in continuous]
    coded = [codes_of(records, _by_type(intruder, key)) for key in tabled]
    ranks = _ranked(records, moved)
    strangers = (intruder.population or 0) > records.sources
    matches = joined(
        [
            *(matched(records, key) for key in whole),
            *(_mixed(records, key, strangers) for key in labelled if key not in tabled),
            *_presences(records, [*continuous, *moved, *tabled], (pairs, ranks), strangers),
            *_own_presences(records, alone, own, strangers),
        ],
        records.sources,
        records.count,
    )
    same = all(_constant(np.concatenate(pair[:2])) for pair in pairs)
    same &= all(np.ptp(np.concatenate([a, b])) == 0 for a, b, _, _ in coded)
    same &= all(_constant(np.concatenate([one.center, one.x])) for one in own.beliefs)
    same &= _alike(own.told(records.sources))
    if same and _all_alike(matches, ranks):
        raise DataError(
            f"the keys {', '.join(key.name for key in known)} are constant in both files, so that "
            "they tell nobody apart; name other keys."
        )
    y, x = (_stack([pair[side] for pair in pairs], size) for side, size in _sides(records))
    correlation = _correlation([key.name for key in continuous], intruder)
    hidden = any(key.suppressed != 0 for key in continuous)
    if not (hidden or np.isnan(y).any() or np.isnan(x).any()):
        y, x, correlation = _whitened(y, x, correlation)
    elif intruder.correlation and len(continuous) > MOST_CORRELATED:
        raise DataError(
            f"correlated noise of {len(continuous)} numbers needs values that are not missing; "
            f"with missing ones, at most {MOST_CORRELATED} numbers are weighed."
        )
    return Encoded(
        tuple(key.name for key in continuous),
        tuple(key.name for key in tabled),
        y,
        x,
        _marginal(x),
        np.array([t.share for t in intruder.types]),
        *_mixtures(intruder, continuous, [pair[2] for pair in pairs]),
        correlation,
        _stack([c[0] for c in coded], records.sources, np.int64),
        _stack([c[1] for c in coded], records.count, np.int64),
        tables_of(len(intruder.types), [c[2] for c in coded]),
        np.array([c[3] for c in coded], np.int64),
        matches,
        ranks,
        own,
    )


def _alike(rows: Floats) -> bool:
    return bool((np.nan_to_num(rows) == np.nan_to_num(rows[:1])).all())


def _own_presences(records: Records, keys: list[Key], own: Own, strangers: bool) -> list[Matches]:
    """Of keys that are believed person by person and may be missing."""
    found = []
    for key, one in zip(keys, own.beliefs, strict=True):
        here = [_flagged(np.isnan(one.center)), _flagged(np.isnan(one.x))]
        some = key.missing == "kept" and any((side == "").any() for side in here)
        if some or key.suppressed != 0 or never(key, records.sources).any():
            found.append(presence(records, key, here[0], here[1], strangers=strangers))
    return found


def _check_types(intruder: Intruder) -> None:
    kinds = {key.name: key.kind for key in intruder.keys}
    own = {key.name for key in own_keys(intruder)}
    for place, kind in enumerate(intruder.types, 1):
        for name in kind.keys:
            if name in own:
                raise DataError(
                    f"type {place} names {name!r}, which is believed person by person; types can "
                    "differ in other keys."
                )
            if kinds.get(name) not in TYPED:
                raise DataError(
                    f"type {place} names {name!r}, a key of kind {kinds.get(name)}; types can "
                    f"differ in keys of kind {', '.join(TYPED)}."
                )


def _has_table(records: Records, intruder: Intruder, key: Key) -> bool:
    """Whether probabilities of a label are kept in a table, or follow from being equal or not."""
    own = _by_type(intruder, key)
    if key.kind is Kind.SWAPPED and key.matrix is None:
        return False
    source, released = set(source_labels(records, key)), set(released_labels(records, key))
    matrices = [one.matrix for one in own if one.matrix is not None]
    if len(own) == 1 and not matrices:
        return len(source | released) <= FEW_LABELS
    reached = released.union(*(row for matrix in matrices for row in matrix.values()))
    if len(source) * len(reached) > MOST_CELLS:
        raise DataError(
            f"{key.name!r} has {len(source):,} labels in the source and {len(reached):,} in the "
            f"release; a matrix, or types of records, can have {MOST_CELLS:,} cells at most."
        )
    return True


def _mixed(records: Records, key: Key, strangers: bool) -> Matches:
    return mixed_up(records, key, alike=key.kind is Kind.CATEGORY, strangers=strangers)


def _ranked(records: Records, keys: list[Key]) -> Ranks:
    columns = [
        (
            source_numbers(records, key),
            numbers(records.released[key.name], key.name, records.names[1]),
        )
        for key in keys
    ]
    return ranked(keys, columns, records.sources, records.count)


def _presences(
    records: Records,
    keys: list[Key],
    found: tuple[list[tuple[Floats, Floats, float]], Ranks],
    strangers: bool,
) -> list[Matches]:
    """Of keys that may be suppressed, or are missing where they were before."""
    pairs, ranks = found
    there = []
    for place, key in enumerate(keys):
        rank = place - len(pairs)
        if place < len(pairs):
            here = [_flagged(np.isnan(side)) for side in pairs[place][:2]]
        elif rank < len(ranks.names):
            here = [_flagged(spans[:, rank, 0] < 0) for spans in (ranks.source, ranks.released)]
        else:
            here = [source_labels(records, key), released_labels(records, key)]
        kept = key.kind in (Kind.RANK, Kind.SWAPPED) or key.missing == "kept"
        some = kept and any((side == "").any() for side in here)
        if some or key.suppressed != 0 or never(key, records.sources).any():
            there.append(presence(records, key, here[0], here[1], strangers=strangers))
    return there


def _flagged(missing: NDArray[np.bool_]) -> Labels:
    return np.where(missing, "", "there").astype(object)


def _all_alike(matches: Matches, ranks: Ranks) -> bool:
    codes = all(
        np.ptp(np.concatenate([matches.source[:, e], matches.released[:, e]])) == 0
        for e in range(len(matches.names))
    )
    return codes and all(
        np.ptp(np.concatenate([ranks.source[:, k, 0], ranks.released[:, k, 0]])) == 0
        for k in range(len(ranks.names))
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
    released = numbers(records.released[key.name], key.name, records.names[1])
    for where, values in enumerate((source_numbers(records, key), released)):
        if key.kind is Kind.LOGNORMAL:
            if (low := values[~np.isnan(values)].min(initial=1)) <= 0:
                raise DataError(
                    f"{key.name!r} of {records.names[where]} has {low:g}; a lognormal key needs "
                    "numbers above 0."
                )
            both.append(np.log(values))
        else:
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
        if set(pair) <= set(names) and not isinstance(value, By):  # else they are own keys
            a, b = (names.index(name) for name in pair)
            correlation[a, b] = correlation[b, a] = value
    if intruder.correlation and np.linalg.eigvalsh(correlation).min(initial=1) <= 1e-9:
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
