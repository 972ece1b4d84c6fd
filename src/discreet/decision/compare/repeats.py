"""Columns that give back what a mask hides in another one.

Education is recoded, and years of schooling are released beside it: whoever knows the one knows
the other. Columns repeat another if they tell, of the records that the most frequent value gets
wrong, at least nine in ten right: one column, two together, all together by naive Bayes, or
numbers of which it is a sum, a product or a ratio. Whether columns are blank is a column, too.
Each record is told by the others alone, so that a number that everybody has for himself repeats
nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.decision.compare.blanks import known, law, several, unused, with_blanks
from discreet.decision.compare.column import Column
from discreet.decision.compare.inferred import guesses
from discreet.decision.compare.plan import Plan
from discreet.decision.compare.sensitive import became, is_fixed, levels_of, tenths
from discreet.decision.compare.some_values import (
    SomeTold,
    pairs_looked_at,
    representatives,
    some_told,
)
from discreet.intruder.linkage.kinds import together
from discreet.intruder.linkage.model import Key, Kind
from discreet.look.words import percent
from discreet.masks.records.file import Labels, RecordFile
from discreet.masks.records.mask import MaskedFile

EXACT = 1e-7  # a sum that is right to so many digits
MOST = 200  # values that a model of all columns tells apart
LOOKED = 20_000  # records by which two columns together are looked at
FEW = 10  # records beyond the numbers that are added up, and for each value of a column of many
LEAST = 0.1  # share of the records that numbers which are added up are known of
CLOSE_BY = 5_000  # records among which the nearest is looked for
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

    A column that follows from a masked key, alone or with other keys, is a key too. One from which
    a masked column follows stands for that column, as its own value says it.

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
    hidden = hidden_by(masked)
    guarded = [name for name in (*plan.keys, *plan.sensitive) if name in hidden]
    columns = dict(_released(file, masked)) if guarded else {}
    blocks = [(key.name, *key.joint) for key in masked.keys.values() if key.joint]
    blanks = with_blanks(file, masked, columns, {*plan.keys, file.weight or ""})
    file, masked = blanks.file, blanks.masked
    keys, sensitive, said = list(plan.keys), list(plan.sensitive), []
    source: dict[str, Labels | Floats] = {}
    released, laws, trees = {}, dict(masked.keys), dict(file.hierarchies)
    for name in dict.fromkeys(guarded):
        own = Column.true(file, name)
        along = {one for block in blocks if name in block for one in block} | {name}
        shown = {one: column for one, column in columns.items() if one not in along}
        gaps = {
            one: it for one, it in blanks.columns.items() if not along.issuperset(blanks.of[one])
        }
        for other in [*shown, *gaps] if name in plan.keys else ():
            column = shown.get(other, gaps.get(other))
            if column is None or other in plan.keys:
                continue
            share = _share(own.codes, known(file, masked, column).classes, own.order)
            if share >= NEARLY:
                said.append(_sentence(other, name, share))
                keys.append(other)
                shown.pop(other, None)
                for part in blanks.parts.get(other, ()):
                    gaps.pop(part, None)
        free = [one for one in shown if one not in plan.keys or one == plan.weight]
        mask = None if name in plan.keys else columns.get(name)  # a key is shown besides
        told = _summed(own, shown) or _read_or_partly(own, shown, free, gaps, mask)
        for level, group_of in levels_of(file, name) if mask is not None else ():
            coarse, seen = (_grouped(file, one, group_of) for one in (own, mask))
            if (more := _read_or_partly(coarse, shown, free, gaps, seen)) is not None:
                made = unused(f"{level} by {more.by}", {*file.data.columns, *source})
                said.append(_sentence(level, more.by, more.share))
                source[made], released[made] = more.true, more.seen[masked.rows]
                sensitive.append(made)
        if told is None:
            continue
        if name in plan.keys:
            told = _as_often_right(own, told)
        made = unused(f"{name} by {told.by}", {*file.data.columns, *source})
        said.append(_sentence(name, told.by, told.share))
        source[made], released[made] = told.true, told.seen[masked.rows]
        if told.law is not None:
            laws[made] = replace(told.law, name=made)
        (keys if name in plan.keys else sensitive).append(made)
        if name in trees and own.numbers is None and told.law is None:
            trees[made] = trees[name]
    taken = {part for one in keys for part in blanks.parts.get(one, (one,))}
    left = {one: it for one, it in {**columns, **blanks.columns}.items() if one not in taken}
    for other, told in _of_keys(file, masked, plan, left, hidden):
        said.append(_sentence(other, told.by, told.share))
        if told.law is None:
            keys.append(other)
            continue
        made = unused(f"{other} by {told.by}", {*file.data.columns, *source})
        source[made], released[made] = told.true, told.seen[masked.rows]
        laws[made] = replace(told.law, name=made)
        keys.append(made)
    if not said:
        return None
    return Repeats(
        replace(file, data=file.data.assign(**source), hierarchies=trees),
        replace(masked, data=masked.data.assign(**released), keys=laws),
        replace(plan, keys=tuple(dict.fromkeys(keys)), sensitive=tuple(sensitive)),
        tuple(said),
    )


def following(file: RecordFile, masked: MaskedFile, plan: Plan) -> dict[str, str]:
    """Released columns that follow from a sensitive one, such as the chapter of an illness, and
    from which: who has a kind of cancer in secret has cancer in secret.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"ill": ["lung", "skin", "flu", "cold"] * 9, "sex": [*"fffmmm"] * 6})
    >>> file = RecordFile(people.assign(chapter=["cancer", "cancer", "other", "other"] * 9))
    >>> masked = MaskedFile(file.data, np.arange(36))
    >>> plan = Plan.of({"keys": ["sex"], "sensitive": ["ill"], "masks": [{"method": "sample"}]})
    >>> following(file, masked, plan)
    {'chapter': 'ill'}
    """
    secret = [Column.true(file, name) for name in plan.sensitive if name not in plan.keys]
    spoken = {*plan.keys, *plan.sensitive, file.household, file.weight}
    found: dict[str, str] = {}
    for name in [one for one in map(str, masked.data.columns) if secret and one not in spoken]:
        classes = Column.true(file, name).classes
        for own in secret:
            known = np.where(own.classes < 0, -1, classes)
            if _share(own.codes, known, own.order) >= NEARLY:
                found.setdefault(name, own.name)
    return found


def hidden_by(masked: MaskedFile) -> set[str]:
    """Columns that a mask has changed."""
    return {name for key in masked.keys.values() for name in (key.name, *key.joint)}


def _grouped(file: RecordFile, column: Column | None, group_of: Mapping[str, str]) -> Column:
    """A column with its values in groups."""
    assert column is not None
    labels = [group_of.get(one, one) for one in column.labels]
    return Column.of(file, column.name, np.array([*labels, None], dtype=object)[:-1])


def pairs_left_out(file: RecordFile, masked: MaskedFile, plan: Plan) -> int:
    """Pairs of columns that are not looked at for what some of their values tell together."""
    hidden = hidden_by(masked)
    if (masked.rows < 0).any() or not hidden & {*plan.keys, *plan.sensitive}:
        return 0
    columns = [name for name in file.data.columns if name != file.household]
    free = sum(name not in plan.keys for name in columns)
    pairs = free * (free - 1) // 2 + free * (len(columns) - free)
    if any((file.labels(name) == "").any() for name in columns if name not in plan.keys):
        pairs += free  # with which columns are blank
    return max(pairs - pairs_looked_at(len(file)), 0)


def _released(file: RecordFile, masked: MaskedFile) -> Iterator[tuple[str, Column]]:
    """Columns as they are released; what chance has changed, as it is shown of each record."""
    for name in map(str, file.data.columns):
        if name == file.household or name not in masked.data.columns:
            continue
        if is_fixed(masked, name):
            yield name, Column.of(file, name, became(file, masked, name))
            continue
        values = file.data[name].to_numpy(object, copy=True)
        values[masked.rows] = masked.data[name].to_numpy(object)
        yield name, Column.true(file.with_columns(**{name: values}), name)


def _of_keys(
    file: RecordFile,
    masked: MaskedFile,
    plan: Plan,
    columns: Mapping[str, Column],
    hidden: Collection[str],
) -> Iterator[tuple[str, _Telling]]:
    """Columns that several keys give together, of which some are masked, or some values of which
    follow from one or two of these.
    """
    keys = {name: Column.true(file, name) for name in plan.keys}
    secret = {name for name in keys if name in hidden}
    if not secret:
        return
    for name, shown in columns.items():
        if name in keys:
            continue
        own = known(file, masked, shown)
        told = _summed(own, keys) or _read(own, keys, secret) if len(keys) > 1 else None
        if told is not None:
            yield name, replace(told, law=None)
            continue
        some = some_told(own.classes, [keys[one] for one in secret], [*keys.values()])
        if some is not None:
            yield name, _by_law(name, some, some.classes, shown.classes)


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


def _read_or_partly(
    own: Column,
    shown: Mapping[str, Column],
    free: Collection[str],
    gaps: Mapping[str, Column],
    mask: Column | None,
) -> _Telling | None:
    """Nearly all of a column, or some of its values."""
    told = _read(own, shown, free) or _by_all(own, shown, free)
    if told is None and gaps:
        every = next(iter(gaps))
        told = _read(own, {**shown, every: gaps[every]}, [every]) or _by_all(own, gaps, gaps)
    return told or _partly(own, [shown[one] for one in free], shown, gaps, mask)


def _read(own: Column, shown: Mapping[str, Column], free: Collection[str]) -> _Telling | None:
    """From one of the `free` columns, or from two of which one is free."""
    for one in [shown[name] for name in free]:
        share = _share(one.codes, own.classes, one.order)
        if share >= NEARLY:
            return _Telling(one.name, share, *_read_off(own, one.labels))
    size = len(own.codes)
    some = np.linspace(0, size - 1, min(size, LOOKED)).astype(np.int64)
    truth = own.classes[some]
    for a in [shown[name] for name in free]:
        for b in shown.values():
            if b is a or (b.name in free and a.name > b.name):
                continue
            share = _share((a.codes * (b.codes.max() + 1) + b.codes)[some], truth)
            if share >= NEARLY:
                labels = together([a.labels, b.labels])
                return _Telling(f"{a.name} and {b.name}", share, *_read_off(own, labels))
            if (told := _nearest(own, a, b)) is not None:
                return told
    return None


def _nearest(own: Column, a: Column, b: Column) -> _Telling | None:
    """From two columns that have an order, by the record that is nearest in both ranks."""
    from scipy.spatial import KDTree
    from scipy.stats import rankdata

    if a.order is None or b.order is None:
        return None
    there = np.flatnonzero((own.classes >= 0) & ~np.isnan(a.order) & ~np.isnan(b.order))
    if len(there) < max(FEW, LEAST * len(own.codes)):
        return None
    points = np.column_stack([rankdata(order[there]) for order in (a.order, b.order)])
    some = np.linspace(0, len(there) - 1, min(len(there), CLOSE_BY)).astype(np.int64)
    found = KDTree(points[some]).query(points, k=2)[1]
    other = some[np.where(some[found[:, 0]] == np.arange(len(there)), found[:, 1], found[:, 0])]
    truth = own.classes[there]
    right = float((truth[other] == truth).mean())
    base = np.bincount(truth).max() / len(truth)
    if base == 1 or (right - base) / (1 - base) < NEARLY:
        return None
    true = own.labels if own.numbers is None else own.numbers
    seen = np.full(len(true), "", object) if own.numbers is None else np.full(len(true), np.nan)
    seen[there] = true[there[other]]
    return _Telling(f"{a.name} and {b.name}", (right - base) / (1 - base), true, seen)


def _partly(
    own: Column,
    free: list[Column],
    shown: Mapping[str, Column],
    gaps: Mapping[str, Column],
    masked: Column | None,
) -> _Telling | None:
    """From values of one column or two that tell, though others do not: of the others is known
    what the mask shows.
    """
    blank = [*gaps.values()]
    some = some_told(own.classes, free, [*shown.values(), *blank[:1]], blank)
    if some is None:
        return None
    if masked is None:
        return _by_law(own.name, some, own.classes, some.classes)
    true: Labels | Floats = own.labels
    rest: Labels | Floats = masked.labels
    if own.numbers is not None:
        true = own.numbers
        rest = np.full(len(true), np.nan) if masked.plain is None else masked.plain
    named = np.array([*representatives(own.classes, true), None], true.dtype)
    return _Telling(
        some.by, some.share, true, np.where(some.classes >= 0, named[some.classes], rest)
    )


def _as_often_right(own: Column, told: _Telling) -> _Telling:
    """What is told of a key, of which some is wrong: its classes, as often as they are right."""
    if told.law is not None or np.array_equal(told.true, told.seen):
        return told
    if own.numbers is not None:
        seen = tenths(own.numbers, np.asarray(told.seen, np.float64))
    else:
        place = dict(zip(own.labels, own.classes, strict=True))
        seen = np.array([place[one] for one in told.seen])
    return _by_law(own.name, told, own.classes, seen)


def _by_law(name: str, some: SomeTold | _Telling, true: Ints, seen: Ints) -> _Telling:
    """A key by the classes of what is told and of what is seen, as often as these meet."""
    names = [np.where(one < 0, "?", one.astype(str)).astype(object) for one in (true, seen)]
    return _Telling(some.by, some.share, names[0], names[1], law(name, *names))


def _by_all(own: Column, shown: Mapping[str, Column], names: Collection[str]) -> _Telling | None:
    """From all columns that are no keys, by a model without the person: which are blank, say."""
    import pandas as pd

    free = [shown[name] for name in names if shown[name].codes.max() < len(own.codes) / FEW]
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
    by = several(one.name for one in free)
    return _Telling(by, (right - base) / (1 - base), own.labels, names[guessed])


def _summed(own: Column, shown: Mapping[str, Column]) -> _Telling | None:
    """From numbers of which it is a sum, or of whose logarithms: a product or a ratio."""
    if own.plain is None:
        return None
    numbers = {one: it.plain for one, it in shown.items() if it.plain is not None}
    positive = {one: np.log(it) for one, it in numbers.items() if not (it <= 0).any()}
    for terms, logs in ((numbers, False), (positive, True)):
        if terms and not (logs and (own.plain <= 0).any()):
            for some in _known_together(terms):
                if (told := _fitted(own, some, logs=logs)) is not None:
                    return told
    return None


def _known_together(numbers: Mapping[str, Floats]) -> list[dict[str, Floats]]:
    """Sets of numbers that records lack together: those that are there where one of them is, and
    those that are missing least often. One that is nearly always missing hides no others.
    """
    gaps = {one: np.isnan(values) for one, values in numbers.items()}
    found: dict[tuple[str, ...], None] = {}
    few = sorted(gaps, key=lambda one: int(gaps[one].sum()))
    for place, one in enumerate(few, 1):
        found[tuple(sorted(few[:place]))] = None
        found[tuple(sorted(it for it in few if not (gaps[it] & ~gaps[one]).any()))] = None
    kept = [some for some in found if not _within_another(some, found, gaps)]
    return [{one: numbers[one] for one in some} for some in kept]


def _within_another(
    some: tuple[str, ...], sets: Collection[tuple[str, ...]], gaps: Mapping[str, NDArray[np.bool_]]
) -> bool:
    """Do as many records know a larger set?"""
    without = np.any([gaps[one] for one in some], axis=0)
    return any(
        set(some) < set(more) and (np.any([gaps[one] for one in more], axis=0) == without).all()
        for more in sets
    )


def _fitted(own: Column, terms: Mapping[str, Floats], *, logs: bool) -> _Telling | None:
    """By the least squares of the others: what each record's own value adds is taken off."""
    assert own.plain is not None
    true = own.plain
    rows = np.column_stack([np.ones(len(true)), *terms.values()])
    there = ~np.isnan(rows).any(1) & ~np.isnan(true)
    if there.sum() < max(FEW + rows.shape[1], LEAST * len(true)):
        return None
    scale = np.maximum(np.abs(rows[there]).max(0), 1e-300)
    x, y = rows[there] / scale, np.log(true[there]) if logs else true[there]
    weights, *_ = np.linalg.lstsq(x, y, rcond=None)
    fitted = x @ weights
    leverage = np.einsum("ij,ji->i", x, np.linalg.pinv(x))
    alone = y - (y - fitted) / np.maximum(1 - leverage, 1e-9)
    exact = float(np.abs(y - fitted).max()) <= EXACT * float(np.abs(y).max())
    back = np.exp if logs else np.asarray
    classes, told = own.classes[there], back(alone)
    nearest = _rounded(true[there], told)
    found = [nearest == true[there]]
    if own.numbers is not None:
        found = [tenths(true, one) == classes for one in (told, nearest)]
    base = np.bincount(classes).max() / len(y)
    right = 1.0 if exact else max(float(one.mean()) for one in found)
    if base == 1 or (right - base) / (1 - base) < NEARLY:
        return None
    matter = np.abs(weights[1:]) * x[:, 1:].std(0) > EXACT * y.std()
    by = " and ".join(one for one, it in zip(terms, matter, strict=True) if it)
    share = (right - base) / (1 - base)
    if own.numbers is None:
        names = dict(zip(true.tolist(), own.labels, strict=True))
        labels = np.full(len(true), "", object)
        labels[there] = [names[one] for one in nearest.tolist()]
        return _Telling(by, share, own.labels, labels)
    seen = np.full(len(true), np.nan)
    seen[there] = true[there] if exact else back(fitted)
    kind = Kind.LOGNORMAL if logs else Kind.NORMAL
    law = None if exact else Key(own.name, kind, spread=(float((y - alone).std()),))
    return _Telling(by, share, true, seen, law)


def _rounded(true: Floats, values: Floats) -> Floats:
    """Each value, to the nearest true one that several have; as it is if there are none."""
    kinds, many = np.unique(true, return_counts=True)
    kinds = kinds[many > 1]
    if not len(kinds):
        return values
    above = np.minimum(np.searchsorted(kinds, values), len(kinds) - 1)
    below = np.maximum(above - 1, 0)
    return np.where(values - kinds[below] <= kinds[above] - values, kinds[below], kinds[above])


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


def _read_off(own: Column, shown: Labels) -> tuple[Labels | Floats, Labels | Floats]:
    """The true column, and what another one says of it in each record."""
    import pandas as pd

    if own.numbers is not None:
        groups = pd.Series(own.numbers).groupby(shown)
        guess = pd.Series(shown).map(groups.quantile(interpolation="lower"))  # somebody's own
        return own.numbers, guess.to_numpy(np.float64)
    frame = pd.DataFrame({"by": shown, "of": own.labels})
    frame = frame[frame["of"] != ""]
    often = frame.value_counts(["by", "of"], sort=False).reset_index(name="n")
    often = often.sort_values(["by", "n", "of"], ascending=[True, False, True], kind="stable")
    best = often.drop_duplicates("by").set_index("by")["of"]
    return own.labels, pd.Series(shown).map(best).fillna("").to_numpy(object)
