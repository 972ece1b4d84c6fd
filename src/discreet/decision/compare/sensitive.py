"""Sensitive columns of a masked file: what is true, and what each released record says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.data.standing import standing
from discreet.errors import DataError
from discreet.intruder.linkage.kinds import image, plainly, settled
from discreet.intruder.linkage.model import Key, Kind
from discreet.masks.records.file import Labels, RecordFile
from discreet.masks.records.mask import MaskedFile
from discreet.risk.linkage.disclosed import Sensitive

TENTHS = 10
FEW = 30  # different values of a column that is taken as categories, whatever they are
POINTS = 1_000  # values of the source that noise is weighed around, evenly by rank if more
BLANK = 0.5  # share of blanks above which they stand for what most people have
PIECE = 2_000_000  # densities at a time


def sensitive_column(
    file: RecordFile,
    masked: MaskedFile,
    name: str,
    keys: Sequence[str] = (),
    *,
    coded: bool = False,
) -> Sensitive:
    """Numbers in tenths of the true file, categories as they are, or as coarse as they became.

    A number that more than a tenth of the records have is a class of its own, and the others are
    cut into parts of a tenth of the records. What chance has changed is believed by Bayes where
    the mask is a matrix or noise, else at face value. A blank says as much as whoever knows the
    rule by which values are blanked takes from it: how often each value is. What is missing
    otherwise says nothing itself.
    Noise that goes with that of the `keys` is known in part to whoever knows these of a record.
    Where numbers are `coded` they are names, and each is a class.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> file = RecordFile(pd.DataFrame({"ill": ["no", "yes"] * 4}))
    >>> masked = dc.files.Sample(share=1.0).apply(file, np.random.default_rng(1))
    >>> sensitive_column(file, masked, "ill").believed[:2].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    key, released = masked.keys.get(name), RecordFile(masked.data)
    still = are_numbers(released, name)
    if key is not None and key.continuous and still and not coded:
        true = _before_chance(file, masked, name)
        return _with_noise(true, *_less_known(file, masked, key, released, keys))
    chance = key is None or not _fixed(key)
    if is_number(file, name) and not coded and still and (chance or is_number(released, name)):
        true = _before_chance(file, masked, name)
        truth, size = _classes(true, true)
        seen = _classes(true, released.numbers(name))[0]
        return _as_shown(name, truth, seen, size, None if chance else masked.rows)
    shown = plainly(released.labels(name))
    if key is not None and chance and key.kind is Kind.CATEGORY and key.matrix is not None:
        return _mixed_up(file, key, released.labels(name), coded=coded)
    labels = plainly(_whole(file, name, became(file, masked, name)))
    names = sorted({*labels, *shown} - {""})
    of, size = _each(names) if coded else _kinds(labels, names)
    truth, seen = (of[_places(values, names)] for values in (labels, shown))
    return _as_shown(name, truth, seen, size, None if chance else masked.rows)


def levels_of(file: RecordFile, name: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The levels of a column's hierarchy, by name: the group of each value."""
    tree = file.hierarchies.get(name)
    values = sorted({*file.labels(name)} - {""})
    for number, groups in enumerate(tree.levels(values) if tree else (), 1):
        yield f"{name} (level {number})", dict(zip(values, groups, strict=True))


def with_levels(
    file: RecordFile, masked: MaskedFile, name: str, keys: Sequence[str] = ()
) -> Iterator[Sensitive]:
    """A sensitive column, and each level of its hierarchy: all who have lung or skin cancer have
    cancer, whatever each of them has. A value that is none of the source stays by itself.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> from discreet.data.hierarchy import Hierarchy
    >>> tree = Hierarchy.of({"lung": "cancer", "skin": "cancer"})
    >>> file = RecordFile(pd.DataFrame({"ill": ["lung", "skin", "flu"]}), {"ill": tree})
    >>> whole = dc.files.Sample(share=1.0).apply(file, np.random.default_rng(1))
    >>> [(one.name, one.truth.tolist()) for one in with_levels(file, whole, "ill")]
    [('ill', [1, 2, 0]), ('ill (level 1)', [0, 0, 1])]
    """
    yield sensitive_column(file, masked, name, keys)
    if name not in file.hierarchies:
        return
    column, labels = sensitive_column(file, masked, name, keys, coded=True), file.labels(name)
    for level, group_of in levels_of(file, name):
        groups = []
        for code in range(len(column.prior)):
            own = {group_of.get(one, one) for one in {*labels[column.truth == code]}}
            groups.append((0, own.pop()) if len(own) == 1 else (1, str(code)))
        names = sorted(set(groups))
        of = np.array([names.index(group) for group in groups])
        if 1 < len(names) < len(groups):
            yield _merged(column, level, of, np.eye(len(names))[of])


def _merged(column: Sensitive, name: str, of: Ints, into: Floats) -> Sensitive:
    """The same of groups of classes."""
    prior, likelihood = column.prior @ into, column.likelihood
    if likelihood is not None:
        often = np.where(prior > 0, prior, 1)
        likelihood = np.where(prior > 0, (likelihood * column.prior) @ into / often, 0)
    truth = np.where(column.truth < 0, -1, of[column.truth])
    overall = None if column.overall is None else _merged(column.overall, name, of, into)
    return Sensitive(name, truth, column.believed @ into, prior, column.shown, likelihood, overall)


def having(file: RecordFile, masked: MaskedFile, name: str) -> Sensitive | None:
    """Whether a column says anything, if it is blank for more than half: then a value is the
    exception, and that somebody has one is told by itself. Nothing of other columns.
    """
    truth = np.where(file.labels(name) == "", -1, 0)
    if (truth < 0).mean() <= BLANK or not (truth == 0).any():
        return None
    seen = (RecordFile(masked.data).labels(name) == "").astype(np.int64)
    return _at_face_value(name, truth, seen, 2, of_all=-truth)


def became(file: RecordFile, masked: MaskedFile, name: str) -> Labels:
    """What the mask makes of each source value, where that is no matter of chance."""
    key = masked.keys.get(name)
    if key is None or not _fixed(key):
        return file.labels(name)
    return np.array([one or "" for one in image(key, file.labels(name))], object)


def is_number(file: RecordFile, name: str) -> bool:
    """Is it a column of numbers, and not of a few codes?"""
    if not are_numbers(file, name):
        return False
    values = file.numbers(name)
    return len(np.unique(values[~np.isnan(values)])) > FEW


def is_fixed(masked: MaskedFile, name: str) -> bool:
    """Has the mask left nothing of a column to chance?"""
    key = masked.keys.get(name)
    joint = any(name in one.joint for one in masked.keys.values())
    return not joint and (key is None or _fixed(key))


def tenths(true: Floats, values: Floats) -> Ints:
    """The class of each of some values, -1 if missing: frequent true ones by themselves, the
    others in parts that hold at most about a tenth of all true ones.
    """
    return _classes(true, values)[0]


def are_numbers(file: RecordFile, name: str) -> bool:
    """Is all that is known of a column a number?"""
    try:
        file.numbers(name)
    except DataError:
        return False
    return True


def _fixed(key: Key) -> bool:
    """Is what a column becomes a matter of fact, and of this column alone?"""
    return not key.joint and settled(key)


def _whole(file: RecordFile, name: str, labels: Labels) -> Labels:
    """What blanked values, and those of records that are not released, would have become: as
    those of the same value, or of the nearest number, else the value itself.
    """
    own = file.labels(name)
    gone = np.flatnonzero((labels == "") & (own != ""))
    left = np.flatnonzero((labels != "") & (own != ""))
    if not len(gone):
        return labels
    found = labels.copy()
    to = dict(zip(own[left], labels[left], strict=True))
    found[gone] = [to.get(one, one) for one in own[gone]]
    odd = gone[[one not in to for one in own[gone]]]
    if len(odd) and is_number(file, name) and (own[left] != labels[left]).any():
        values = file.numbers(name)
        order = left[np.argsort(values[left])]
        at = np.searchsorted(values[order], values[odd])
        low, high = order[np.maximum(at - 1, 0)], order[np.minimum(at, len(order) - 1)]
        near = np.abs(values[low] - values[odd]) <= np.abs(values[high] - values[odd])
        found[odd] = labels[np.where(near, low, high)]
    return found


def _kinds(labels: Labels, names: list[str]) -> tuple[Ints, int]:
    """The class of each name, with -1 for a blank at the end, and how many classes there are.

    Numbers are in tenths of those among the labels, few or many, as are dates, ranges, codes and
    whatever else has digits; each other name is by itself.
    """
    values, among = _as_numbers(names), _as_numbers(labels)
    place = standing({*names, *labels})
    if 2 * int(np.isfinite(values).sum()) < sum(one in place for one in names):
        values, among = (np.array([place.get(a, np.nan) for a in b]) for b in (names, labels))
    if not np.isfinite(among).any():
        return _each(names)
    found, size = _classes(among, values)
    found = np.where(found < 0, size + np.arange(len(found)), found)
    kinds, found = np.unique(found, return_inverse=True)
    return np.append(found, -1), len(kinds)


def _each(names: list[str]) -> tuple[Ints, int]:
    """Each name by itself."""
    return np.append(np.arange(len(names)), -1), max(len(names), 1)


def _before_chance(file: RecordFile, masked: MaskedFile, name: str) -> Floats:
    """What a mask makes of each number, but for chance: all beyond an end of a code are told that
    they are, and no part of these; so are members of a group.
    """
    key = masked.keys.get(name)
    if key is not None and _fixed(key):
        labels = became(file, masked, name)
    elif key is not None and key.seen is not None:
        labels = np.array([one or "" for one in key.seen], object)
    else:
        return file.numbers(name)
    return _as_numbers(_whole(file, name, labels))


def _as_numbers(labels: Labels | Sequence[object]) -> Floats:
    """What is a number, and nan for all else."""
    import pandas as pd

    found = pd.to_numeric(pd.Series(labels, dtype=object), errors="coerce")
    return np.asarray(found, np.float64)


def _places(labels: Labels, names: list[str]) -> Ints:
    place = {one: code for code, one in enumerate(names)}
    return np.array([place.get(one, -1) for one in labels], np.int64)


def _classes(true: Floats, values: Floats) -> tuple[Ints, int]:
    """Each value's class, -1 if missing, and how many classes there are."""
    known = true[~np.isnan(true)]
    kinds, counts = np.unique(known, return_counts=True)
    heaps = kinds[counts > len(known) / TENTHS]
    rest = known[~np.isin(known, heaps)]
    parts = -(-TENTHS * len(rest) // max(len(known), 1))
    cuts = np.unique(np.quantile(rest, np.arange(1, parts) / parts)) if len(rest) else rest
    found = np.searchsorted(cuts, values, side="right")
    place = np.searchsorted(heaps, values)
    found = np.where(np.isin(values, heaps), len(cuts) + 1 + place, found)
    return np.where(np.isnan(values), -1, found), len(cuts) + 1 + len(heaps)


def _at_face_value(
    name: str, truth: Ints, seen: Ints, size: int, of_all: Ints | None = None
) -> Sensitive:
    """What is released is believed; what is missing is as frequent as elsewhere."""
    shares = []
    for codes in (seen, truth if of_all is None else of_all):
        counts = np.bincount(codes[codes >= 0], minlength=size).astype(np.float64)
        shares.append((counts + 1 / size) / (counts.sum() + 1))
    return _by_both(name, truth, seen, np.eye(size), *shares)


def _as_shown(name: str, truth: Ints, seen: Ints, size: int, rows: Ints | None) -> Sensitive:
    """At face value; `rows`, of whom each record is, tell which values a rule has blanked."""
    if rows is None or (rows < 0).any():
        return _at_face_value(name, truth, seen, size)
    own = truth[rows]
    blank = (seen < 0) & (own >= 0)
    if not blank.any():
        return _at_face_value(name, truth, seen, size)
    counts = np.bincount(own[own >= 0], minlength=size).astype(np.float64)
    often = np.bincount(own[blank], minlength=size) / np.maximum(counts, 1)
    likelihood = np.vstack([np.diag(1 - often), often])
    everybody = np.bincount(truth[truth >= 0], minlength=size)
    shares = counts / counts.sum(), everybody / everybody.sum()
    return _by_both(name, truth, np.where(blank, size, seen), likelihood, *shares)


def _mixed_up(file: RecordFile, key: Key, shown: Labels, *, coded: bool = False) -> Sensitive:
    """A matrix: values of which it makes the same are one class."""
    assert key.matrix is not None
    labels = file.labels(key.name)
    if key.seen is not None:
        labels = _whole(file, key.name, np.array([one or "" for one in key.seen], object))
    names = sorted({*labels} - {""})
    if not names:
        return _at_face_value(key.name, _places(labels, names), _places(shown, names), 1)
    outcomes = sorted({*shown} - {""} | {b for row in key.matrix.values() for b in row})
    rows = np.array([[key.matrix.get(a, {}).get(b, 0.0) for b in outcomes] for a in names])
    place = _places(labels, names)
    kinds, size = _each(names) if coded else _kinds(labels, names)
    shares = np.eye(size)[kinds[:-1]].T * np.bincount(place[place >= 0], minlength=len(names))
    rows = shares @ rows / np.maximum(shares.sum(1, keepdims=True), 1)
    table, of = np.unique(rows.round(12), axis=0, return_inverse=True)
    truth = np.append(of.ravel()[kinds[:-1]], -1)[place]
    seen = _places(shown, outcomes)
    shares = np.bincount(truth[truth >= 0], minlength=len(table)) / max((truth >= 0).sum(), 1)
    return _believed(key.name, truth, seen, table.T, shares)


def _less_known(
    file: RecordFile, masked: MaskedFile, key: Key, released: RecordFile, keys: Sequence[str]
) -> tuple[Key, Floats]:
    """A column without the part of its noise that follows from that of keys, and its key then.

        e_s | e_k  ~  normal(S_sk S_kk^-1 e_k, S_ss - S_sk S_kk^-1 S_ks)

    The intruder knows the true keys, and so their noise in the record that he has found.
    """
    found = released.numbers(key.name)
    ties = {
        name: masked.correlation.get((name, key.name), masked.correlation.get((key.name, name), 0))
        for name in keys
    }
    tied = [name for name, tie in ties.items() if tie and name in masked.keys]
    if not tied or (masked.rows < 0).any() or key.spread is None:
        return key, found
    log = key.kind is Kind.LOGNORMAL
    noise = []
    for name in tied:
        pair = released.numbers(name), file.numbers(name)[masked.rows]
        true, spread = (np.log(pair) if log else pair), masked.keys[name].spread or (1.0,)
        noise.append(np.nan_to_num(true[0] - true[1]) / spread[0])
    among = np.array(
        [
            [1.0 if a == b else masked.correlation.get((a, b), masked.correlation.get((b, a), 0.0))
             for b in tied]
            for a in tied
        ]
    )  # fmt: skip
    along = np.array([ties[name] for name in tied], np.float64)
    weights = np.linalg.solve(among, along)
    shift = key.spread[0] * (weights @ np.array(noise))
    left = key.spread[0] * np.sqrt(max(1 - float(weights @ along), 0.0))
    return replace(key, spread=(float(left),)), found * np.exp(-shift) if log else found - shift


def _with_noise(true: Floats, key: Key, released: Floats) -> Sensitive:
    """P[class | x] ~ sum over its values y of share(y) density(x | y), by the file's own shares."""

    start = true
    truth, size = _classes(true, true)
    if key.kind is Kind.LOGNORMAL:
        start, released = (np.log(np.where(v > 0, v, np.nan)) for v in (start, released))
    shares = np.bincount(truth[truth >= 0], minlength=size) / max((truth >= 0).sum(), 1)
    rows = np.flatnonzero((truth >= 0) & ~np.isnan(start))
    rows = rows[np.argsort(start[rows], kind="stable")]
    if len(rows) > POINTS:
        rows = rows[np.linspace(0, len(rows) - 1, POINTS).round().astype(np.int64)]
    of = np.zeros((len(rows), size))
    of[np.arange(len(rows)), truth[rows]] = 1
    many = of.sum(0)
    table = np.ones((len(released), size))
    there = np.flatnonzero(~np.isnan(released)) if len(rows) else np.zeros(0, np.int64)
    step = max(1, PIECE // max(len(rows), 1))
    for part in (there[at : at + step] for at in range(0, len(there), step)):
        joint = _densities(key, released[part][:, None] - start[rows][None]) @ of
        table[part] = np.divide(joint, many, out=np.zeros_like(joint), where=many > 0)
    prior = shares if shares.sum() else np.full(size, 1 / size)
    return _believed(key.name, truth, np.arange(len(released)), table, prior)


def _densities(key: Key, far: Floats) -> Floats:
    """Densities of noise, in units of each row's largest; a spread that is not said is small."""
    spreads = np.array(key.spread or (0.0,))
    logs = np.full(far.shape, -np.inf)
    for spread, weight in zip(np.maximum(spreads, 1e-12), key.weights, strict=True):
        one = np.log(weight) - np.log(spread) - (far / spread) ** 2 / 2 if weight > 0 else -np.inf
        logs = np.logaddexp(logs, one)
    return np.asarray(np.exp(logs - logs.max(1, keepdims=True)))


def _by_both(
    name: str, truth: Ints, seen: Ints, likelihood: Floats, released: Floats, people: Floats
) -> Sensitive:
    """For who knows how often values are released, and for who knows how often people have them."""
    found = _believed(name, truth, seen, likelihood, released)
    if np.array_equal(released, people):
        return found
    return replace(found, overall=_believed(name, truth, seen, likelihood, people))


def _believed(name: str, truth: Ints, seen: Ints, likelihood: Floats, prior: Floats) -> Sensitive:
    """By Bayes; `likelihood` has a row for each code of `seen`, and -1 says nothing."""
    likelihood = np.vstack([likelihood, np.ones(len(prior))])
    shown = np.where(seen < 0, len(likelihood) - 1, seen)
    weights = likelihood * prior
    total = weights.sum(1, keepdims=True)
    each = np.where(total > 0, weights / np.where(total > 0, total, 1), prior)
    certain = bool(((likelihood > 0).sum(1) == 1)[shown].all())
    if certain:
        return Sensitive(name, truth, each[shown], prior)
    return Sensitive(name, truth, each[shown], prior, shown, likelihood)
