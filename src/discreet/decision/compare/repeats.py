"""Columns that give back what a mask hides in another one.

Education is recoded, and years of schooling are released beside it: whoever knows the one knows
the other. A column repeats another if it tells, of the records that the most frequent value gets
wrong, at least nine in ten right. Each record is told by the others alone, so that a number that
everybody has for himself repeats nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.decision.compare.plan import Plan
from discreet.decision.compare.sensitive import became, is_fixed, is_number, tenths
from discreet.intruder.linkage.kinds import plainly
from discreet.look.words import percent
from discreet.masks.records.file import Labels, RecordFile
from discreet.masks.records.mask import MaskedFile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
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
    keys, sensitive, said = list(plan.keys), list(plan.sensitive), []
    source, released = {}, {}
    for name in dict.fromkeys(guarded):
        for other in _others(file, masked, plan, name):
            shown, own = became(file, masked, other), file.labels(name)
            follows = _told(file, (name, own), (other, shown)) if name in plan.keys else 0.0
            gives = _told(file, (other, shown), (name, own))
            if max(follows, gives) < NEARLY:
                continue
            if follows >= NEARLY:
                said.append(_sentence(other, name, follows))
                keys.append(other)
                continue
            said.append(_sentence(name, other, gives))
            made = f"{name} by {other}"
            source[made], released[made] = _read_off(file, masked, name, shown)
            (keys if name in plan.keys else sensitive).append(made)
    if not said:
        return None
    return Repeats(
        replace(file, data=file.data.assign(**source)),
        replace(masked, data=masked.data.assign(**released)),
        replace(plan, keys=tuple(dict.fromkeys(keys)), sensitive=tuple(sensitive)),
        tuple(said),
    )


def _others(file: RecordFile, masked: MaskedFile, plan: Plan, name: str) -> Iterator[str]:
    """Released columns that chance has not changed, and that count for nothing so far."""
    aside = {file.household, file.weight, name, *plan.keys, *plan.sensitive}
    for other in file.data.columns:
        if other in aside or other not in masked.data.columns:
            continue
        if is_fixed(masked, other):
            yield str(other)


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
    there = (truth >= 0) & (codes >= 0)
    if not there.any():
        return 0.0
    codes, truth = codes[there], truth[there]
    counts = np.bincount(truth)
    base = counts.max() / len(truth)
    if base == 1:
        return 0.0
    if numbers is None:
        right = _by_value(codes, truth)
    else:
        right = np.maximum(_by_value(codes, truth), _by_neighbours(numbers[there], truth))
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
    file: RecordFile, masked: MaskedFile, name: str, shown: Labels
) -> tuple[Labels | Floats, Labels | Floats]:
    """The true column, and what the other one says of it in each released record."""
    import pandas as pd

    if is_number(file, name):
        numbers = file.numbers(name)
        guess = pd.Series(numbers).groupby(shown).transform("median").to_numpy(np.float64)
        return numbers, np.where(shown == "", np.nan, guess)[masked.rows]
    labels = file.labels(name)
    frame = pd.DataFrame({"by": shown, "of": labels})
    frame = frame[(frame["by"] != "") & (frame["of"] != "")]
    often = frame.value_counts(["by", "of"], sort=False).reset_index(name="n")
    often = often.sort_values(["by", "n", "of"], ascending=[True, False, True], kind="stable")
    best = often.drop_duplicates("by").set_index("by")["of"]
    guess = pd.Series(shown).map(best).fillna("").to_numpy(object)
    return labels, guess[masked.rows]
