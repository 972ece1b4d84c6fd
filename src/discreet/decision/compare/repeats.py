"""Columns that give back what a mask hides in another one.

Education is recoded, and years of schooling are released beside it: whoever knows the one knows
the other. Columns repeat another if they tell, of the records that the most frequent value gets
wrong, at least nine in ten right: one column, two together, all
together by naive Bayes, or numbers of which it is a sum. Each
record is told by the others alone, so that a number that everybody has for himself repeats nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.decision.compare.inferred import guesses
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
MOST = 200  # values that a model of all columns tells apart
LOOKED = 20_000  # records by which two columns together are looked at
FEW = 10  # records for each number that is added up, and for each value of a column of many
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
    columns = dict(_released(file, masked)) if guarded else {}
    blocks = [(key.name, *key.joint) for key in masked.keys.values() if key.joint]
    keys, sensitive, said = list(plan.keys), list(plan.sensitive), []
    source, released, laws = {}, {}, dict(masked.keys)
    for name in dict.fromkeys(guarded):
        own = _Column.true(file, name)
        along = {one for block in blocks if name in block for one in block} | {name}
        shown = {one: column for one, column in columns.items() if one not in along}
        for other in [one for one in shown if name in plan.keys and one not in plan.keys]:
            true = shown[other] if is_fixed(masked, other) else _Column.true(file, other)
            share = _share(own.codes, true.classes, own.numbers)
            if share >= NEARLY and other != file.weight:
                said.append(_sentence(other, name, share))
                keys.append(other)
                shown.pop(other)
        told = _summed(own, shown) or _read(plan, own, shown) or _by_all(plan, own, shown)
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


def _released(file: RecordFile, masked: MaskedFile) -> Iterator[tuple[str, _Column]]:
    """Columns as they are released; what chance has changed, as it is shown of each record."""
    for name in map(str, file.data.columns):
        if name == file.household or name not in masked.data.columns:
            continue
        if is_fixed(masked, name):
            yield name, _Column.of(file, name, became(file, masked, name))
            continue
        values = file.data[name].to_numpy(object, copy=True)
        values[masked.rows] = masked.data[name].to_numpy(object)
        yield name, _Column.true(file.with_columns(**{name: values}), name)


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


@dataclass(frozen=True, eq=False)
class _Column:
    """What a column shows of each source record: a code of every label, that of blanks too, and
    numbers if they are many and as they were; its classes, -1 for blanks, if others tell it.
    """

    name: str
    labels: Labels
    codes: Ints
    classes: Ints
    numbers: Floats | None
    plain: Floats | None

    @classmethod
    def true(cls, file: RecordFile, name: str) -> _Column:
        return cls.of(file, name, file.labels(name))

    @classmethod
    def of(cls, file: RecordFile, name: str, labels: Labels) -> _Column:
        import pandas as pd

        codes = pd.factorize(plainly(labels))[0]
        classes = np.where(labels == "", -1, codes)
        plain = file.numbers(name) if are_numbers(file, name) else None
        if plain is not None and (labels != file.labels(name)).any():
            plain = None
        numbers = plain if is_number(file, name) else None
        if numbers is not None:
            classes = tenths(numbers, numbers)
        return cls(name, labels, codes, classes, numbers, plain)


def _read(plan: Plan, own: _Column, shown: Mapping[str, _Column]) -> _Telling | None:
    """From one column that is no key, or from two of which one is none."""
    aside, free = _free(plan, shown)
    for one in free:
        share = _share(one.codes, own.classes, one.numbers)
        if share >= NEARLY:
            return _Telling(one.name, share, *_read_off(own, one.labels))
    some = np.linspace(0, len(own.codes) - 1, min(len(own.codes), LOOKED)).astype(np.int64)
    truth = own.classes[some]
    for a in free:
        for b in shown.values():
            if b is a or (b.name not in aside and a.name > b.name):
                continue
            share = _share((a.codes * (b.codes.max() + 1) + b.codes)[some], truth)
            if share >= NEARLY:
                labels = a.labels + " | " + b.labels
                return _Telling(f"{a.name} and {b.name}", share, *_read_off(own, labels))
    return None


def _free(plan: Plan, shown: Mapping[str, _Column]) -> tuple[set[str], list[_Column]]:
    """Names of columns that count already, and the columns that do not; a weight never does."""
    aside = {*plan.keys, *plan.sensitive} - {plan.weight or ""}
    return aside, [column for name, column in shown.items() if name not in aside]


def _by_all(plan: Plan, own: _Column, shown: Mapping[str, _Column]) -> _Telling | None:
    """From all columns that are no keys, by a model without the person: which are blank, say."""
    import pandas as pd

    _, free = _free(plan, shown)
    free = [one for one in free if one.codes.max() < len(one.codes) / FEW]
    size = int(own.classes.max(initial=0)) + 1
    if own.numbers is not None or size > MOST or len(free) < 3:
        return None
    codes = [one.codes for one in free]
    table = np.stack([*codes, pd.MultiIndex.from_arrays(codes).factorize()[0]], 1)
    weights = np.zeros((len(table), size))
    there = own.classes >= 0
    weights[there, own.classes[there]] = 1
    _, guessed = guesses(table, table, weights, np.arange(len(table)))
    base = np.bincount(own.classes[there]).max() / there.sum()
    right = float((guessed == own.classes)[there].mean())
    if base == 1 or (right - base) / (1 - base) < NEARLY:
        return None
    names = np.full(size, "", object)
    names[own.classes[there]] = own.labels[there]
    by = " and ".join(one.name for one in free[:3]) + " and others" * (len(free) > 3)
    return _Telling(by, (right - base) / (1 - base), own.labels, names[guessed])


def _summed(own: _Column, shown: Mapping[str, _Column]) -> _Telling | None:
    """From numbers by the least squares of the others: what each record's own adds is taken off."""
    if own.numbers is None:
        return None
    true = own.numbers
    numbers = {one: it.plain for one, it in shown.items() if it.plain is not None}
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
    law = None if exact else Key(own.name, Kind.NORMAL, spread=(float((y - alone).std()),))
    return _Telling(by, (right - base) / (1 - base), true, seen, law)


def _sentence(told: str, by: str, share: float) -> str:
    return f"{by} gives {percent(share)} of {told}: an intruder uses both for what is masked."


def _share(codes: Ints, truth: Ints, numbers: Floats | None = None) -> float:
    """How much of a column another tells: the share of records that it gets right, from the
    others with its value or the number next to it, beyond the share of the most frequent value.

        (right - base) / (1 - base)        Goodman & Kruskal 1954
    """
    there = truth >= 0
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


def _read_off(own: _Column, shown: Labels) -> tuple[Labels | Floats, Labels | Floats]:
    """The true column, and what another one says of it in each record."""
    import pandas as pd

    if own.numbers is not None:
        guess = pd.Series(own.numbers).groupby(shown).transform("median")
        return own.numbers, guess.to_numpy(np.float64)
    frame = pd.DataFrame({"by": shown, "of": own.labels})
    frame = frame[frame["of"] != ""]
    often = frame.value_counts(["by", "of"], sort=False).reset_index(name="n")
    often = often.sort_values(["by", "n", "of"], ascending=[True, False, True], kind="stable")
    best = often.drop_duplicates("by").set_index("by")["of"]
    return own.labels, pd.Series(shown).map(best).fillna("").to_numpy(object)
