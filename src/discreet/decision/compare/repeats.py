"""Columns that give back what a mask hides in another one.

Education is recoded, and years of schooling are released beside it: whoever knows the one knows
the other. Columns repeat another if they tell, of the records that the most frequent value gets
wrong, at least nine in ten right: one column, two together, or numbers of which it is a sum. Each
record is told by the others alone, so that a number that everybody has for himself repeats nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.decision.compare.plan import Plan
from discreet.decision.compare.sensitive import (
    are_numbers,
    became,
    is_fixed,
    is_number,
    tenths,
)
from discreet.intruder.linkage.kinds import plainly
from discreet.intruder.linkage.model import Key, Kind
from discreet.look.words import percent
from discreet.masks.records.file import Labels, RecordFile
from discreet.masks.records.mask import MaskedFile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
EXACT = 1e-7  # a sum that is right to so many digits
LOOKED = 20_000  # records by which two columns together are looked at
FEW = 10  # records for each number that is added up
NEARLY = 0.9  # as sure as a value that nobody is surprised by: what one in ten gets wrong is hidden


@dataclass(frozen=True, eq=False)
class Repeats:
    """The files and the plan of an intruder who uses such columns, and a sentence for each."""

    file: RecordFile
    masked: MaskedFile
    plan: Plan
    said: tuple[str, ...]


def repeats(file: RecordFile, masked: MaskedFile, plan: Plan) -> Repeats | None:
    """What an intruder adds to what he knows; nothing if no column gives another back.

    A column that follows from a masked key is a key too. One from which a masked column follows
    stands for that column, as its own value says it.

    >>> import pandas as pd
    >>> from discreet.masks.records.pram import Pram
    >>> people = pd.DataFrame({"school": list("abcd") * 9, "years": [9, 10, 12, 16] * 9})
    >>> file = RecordFile(people)
    >>> masked = Pram("school", keep=0.3).apply(file, np.random.default_rng(1))
    >>> plan = Plan.of({"keys": ["school"], "masks": [{"method": "pram", "columns": ["school"]}]})
    >>> repeats(file, masked, plan).said
    ('school gives 100% of years: an intruder uses both for what is masked.',)
    """
    if (masked.rows < 0).any():
        return None
    hidden = {name for key in masked.keys.values() for name in (key.name, *key.joint)}
    guarded = [name for name in (*plan.keys, *plan.sensitive) if name in hidden]
    columns = {name: became(file, masked, name) for name in _released(file, masked)}
    keys, sensitive, said = list(plan.keys), list(plan.sensitive), []
    source, released, laws = {}, {}, dict(masked.keys)
    for name in dict.fromkeys(guarded):
        own = file.labels(name)
        shown = {one: labels for one, labels in columns.items() if one != name}
        for other in [one for one in shown if name in plan.keys and one not in plan.keys]:
            share = _told(file, (name, own), (other, shown[other]))
            if share >= NEARLY and other != file.weight:
                said.append(_sentence(other, name, share))
                keys.append(other)
                shown.pop(other)
        told = _summed(file, name, shown) or _read(file, plan, name, shown)
        if told is None:
            continue
        made = f"{name} by {told.by}"
        said.append(_sentence(name, told.by, told.share))
        source[made], released[made] = told.true, told.seen[masked.rows]
        if told.law is not None:
            laws[made] = replace(told.law, name=made)
        (keys if name in plan.keys else sensitive).append(made)
    if not said:
        return None
    return Repeats(
        replace(file, data=file.data.assign(**source)),
        replace(masked, data=masked.data.assign(**released), keys=laws),
        replace(plan, keys=tuple(dict.fromkeys(keys)), sensitive=tuple(sensitive)),
        tuple(said),
    )


def _released(file: RecordFile, masked: MaskedFile) -> Iterator[str]:
    """Columns that are released and that chance has not changed."""
    for name in file.data.columns:
        if name != file.household and name in masked.data.columns and is_fixed(masked, name):
            yield str(name)


@dataclass(frozen=True, eq=False)
class _Telling:
    """What columns say of another one: its true values, what is seen of each source record, how
    that varies around the truth, and how much of it is told.
    """

    by: str
    share: float
    true: Labels | Floats
    seen: Labels | Floats
    law: Key | None = None


def _read(file: RecordFile, plan: Plan, name: str, shown: Mapping[str, Labels]) -> _Telling | None:
    """From one column that is no key, or from two of which one is none."""
    own = file.labels(name)
    aside = {*plan.keys, *plan.sensitive} - {file.weight}
    free = [one for one in shown if one not in aside]
    for one in free:
        share = _told(file, (one, shown[one]), (name, own))
        if share >= NEARLY:
            return _Telling(one, share, *_read_off(file, name, shown[one]))
    truth = tenths(*(file.numbers(name),) * 2) if is_number(file, name) else _codes(own)
    some = np.linspace(0, len(own) - 1, min(len(own), LOOKED)).astype(np.int64)
    codes = {one: _codes(labels[some]) for one, labels in shown.items()}
    pairs = [(a, b) for a in free for b in shown if b != a and (b in aside or a < b)]
    for a, b in pairs:
        both = np.where(codes[a] < 0, -1, codes[a] * (codes[b].max() + 2) + codes[b] + 1)
        share = _share(both, truth[some])
        if share >= NEARLY:
            labels = shown[a] + " | " + shown[b]
            return _Telling(f"{a} and {b}", share, *_read_off(file, name, labels))
    return None


def _summed(file: RecordFile, name: str, shown: Mapping[str, Labels]) -> _Telling | None:
    """From numbers by the least squares of the others: what each record's own adds is taken off."""
    if not is_number(file, name):
        return None
    true, numbers = file.numbers(name), {}
    for one, labels in shown.items():
        if are_numbers(file, one) and (labels == file.labels(one)).all():
            numbers[one] = file.numbers(one)
    rows = np.column_stack([np.ones(len(true)), *numbers.values()])
    there = ~np.isnan(rows).any(1) & ~np.isnan(true)
    if there.sum() < FEW * rows.shape[1]:
        return None
    scale = np.maximum(np.abs(rows[there]).max(0), 1e-300)
    x, y = rows[there] / scale, true[there]
    weights, *_ = np.linalg.lstsq(x, y, rcond=None)
    fitted = x @ weights
    leverage = np.einsum("ij,ji->i", x, np.linalg.pinv(x))
    alone = y - (y - fitted) / np.maximum(1 - leverage, 1e-9)
    classes = tenths(y, y)
    base = np.bincount(classes).max() / len(y)
    exact = float(np.abs(y - fitted).max()) <= EXACT * float(np.abs(y).max())
    right = 1.0 if exact else float((tenths(y, alone) == classes).mean())
    if base == 1 or (right - base) / (1 - base) < NEARLY:
        return None
    matter = np.abs(weights[1:]) * x[:, 1:].std(0) > EXACT * y.std()
    by = " and ".join(one for one, it in zip(numbers, matter, strict=True) if it)
    seen = np.full(len(true), np.nan)
    seen[there] = y if exact else fitted
    law = None if exact else Key(name, Kind.NORMAL, spread=(float((y - alone).std()),))
    return _Telling(by, (right - base) / (1 - base), true, seen, law)


def _sentence(told: str, by: str, share: float) -> str:
    return f"{by} gives {percent(share)} of {told}: an intruder uses both for what is masked."


Column = tuple[str, Labels]  # its name, and what it shows of each source record


def _numbers(file: RecordFile, column: Column) -> Floats | None:
    """A column of many numbers that shows them as they are."""
    name, shown = column
    if not is_number(file, name) or (shown != file.labels(name)).any():
        return None
    return file.numbers(name)


def _codes(shown: Labels) -> Ints:
    import pandas as pd

    return np.where(shown == "", -1, pd.factorize(plainly(shown))[0])


def _told(file: RecordFile, by: Column, of: Column) -> float:
    """How much of a column another tells: the share of records that it gets right, from the
    others with its value or the number next to it, beyond the share of the most frequent value.

        (right - base) / (1 - base)        Goodman & Kruskal 1954
    """
    many, numbers = _numbers(file, of), _numbers(file, by)
    truth = _codes(of[1]) if many is None else tenths(many, many)
    codes = _codes(by[1])
    return _share(codes, truth, numbers)


def _share(codes: Ints, truth: Ints, numbers: Floats | None = None) -> float:
    """The same of codes, -1 where one is missing."""
    there = (truth >= 0) & (codes >= 0)
    if not there.any():
        return 0.0
    codes, truth = codes[there], truth[there]
    base = np.bincount(truth).max() / len(truth)
    if base == 1:
        return 0.0
    right = _by_value(codes, truth)
    if numbers is not None:
        right = np.maximum(right, _by_neighbours(numbers[there], truth))
    return float(max(right.mean() - base, 0) / (1 - base))


def _by_value(codes: Ints, truth: Ints) -> Floats:
    """Whether the most frequent value of the others with the same code is each record's own."""
    size = int(truth.max()) + 1
    pairs, place, many = np.unique(codes * size + truth, return_inverse=True, return_counts=True)
    group = pairs // size
    first = np.concatenate([[0], np.flatnonzero(np.diff(group)) + 1])
    of = np.searchsorted(group[first], group)
    most = np.maximum.reduceat(many, first)
    at_most = np.add.reduceat((many == most[of]).astype(np.int64), first)
    lower = np.where(many == most[of], 0, many)
    second = np.where(at_most > 1, most, np.maximum.reduceat(lower, first))
    left = many - 1
    rival = np.where((many == most[of]) & (at_most[of] == 1), second[of], most[of])
    right = ((left > rival) & (left > 0)).astype(np.float64)
    return np.asarray(right[place.ravel()])


def _by_neighbours(numbers: Floats, truth: Ints) -> Floats:
    """Whether the nearest other number belongs to a record of the same value."""
    order = np.argsort(numbers, kind="stable")
    x, kind = numbers[order], truth[order]
    gap = np.diff(x)
    left, right = np.concatenate([[np.inf], gap]), np.concatenate([gap, [np.inf]])
    places = np.arange(len(x))
    near = np.where(left <= right, places - 1, np.minimum(places + 1, len(x) - 1))
    found = np.zeros(len(x))
    found[order] = (kind[np.maximum(near, 0)] == kind) & (len(x) > 1)
    return found


def _read_off(
    file: RecordFile, name: str, shown: Labels
) -> tuple[Labels | Floats, Labels | Floats]:
    """The true column, and what another one says of it in each record."""
    import pandas as pd

    if is_number(file, name):
        numbers = file.numbers(name)
        guess = pd.Series(numbers).groupby(shown).transform("median").to_numpy(np.float64)
        return numbers, np.where(shown == "", np.nan, guess)
    labels = file.labels(name)
    frame = pd.DataFrame({"by": shown, "of": labels})
    frame = frame[(frame["by"] != "") & (frame["of"] != "")]
    often = frame.value_counts(["by", "of"], sort=False).reset_index(name="n")
    often = often.sort_values(["by", "n", "of"], ascending=[True, False, True], kind="stable")
    best = often.drop_duplicates("by").set_index("by")["of"]
    guess = pd.Series(shown).map(best).fillna("").to_numpy(object)
    return labels, guess
