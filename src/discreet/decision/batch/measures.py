"""Whether tables of one measure tell of another: sums of parts, counts and weights, equal amounts.

Each measure is judged by itself, so whatever ties measures together leaves a doubt, unless a person
says that it is no rule (`independent` in a list of tables).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from discreet.arrays import Bools, Floats
from discreet.data.amounts import unit_of
from discreet.decision.batch.bylaw import joined, judge_by_law, unjudged
from discreet.decision.batch.case import SheetCase
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Reason, Verdict
from discreet.effort import Clock, Seconds
from discreet.look.words import both
from discreet.sheets.joined import variables_of
from discreet.sheets.records import COUNTED, Records
from discreet.sheets.sheet import Measure, Sheet
from discreet.sheets.system import System

NAME = "measures together"
FEW_TERMS = 4  # equations of so few are sought one by one
FEW_MEASURES = 16  # among so few
MOST_MEASURES = 64
FIRST = 2_000  # records of a first look
TRIALS = 100  # some of the records are in an equation with few errors
HOLDS = 0.95  # of the records: an equation with few errors is one
CLOSE = 1e-9
SMALL = 0.1
ENOUGH = 6  # records for each term that is fitted
FEW_LARGE = 3  # so many records of one size, or as uneven ones as these
ROUNDS = 4
MOST_SHARE = 0.5
NAMED = 3  # equations that a reason spells out


@dataclass(frozen=True)
class Tie:
    """Measures that tell of each other, in words; `always`: also where no cell is guarded."""

    measures: tuple[Measure, ...]
    text: str
    always: bool = False

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(name for one in self.measures for name in _columns(one))


def doubts(
    records: Records,
    sheets: Sequence[Sheet],
    guarded: Collection[Measure],
    known: Iterable[Tie] | None = None,
    *,
    policy: Policy | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
) -> list[Reason]:
    """A reason to look for every tie of measures of the sheets that nobody called none.

    `guarded` are measures with cells that are hidden, or that nobody may work out; `known` the ties
    of these sheets and others, if they were looked for. By a `policy` it is also looked whether
    these sheets would tell too much if all were of one measure.
    """
    found = []
    measures = {_plain(sheet.measure) for sheet in sheets}
    for tie in ties(records, sheets, policy) if known is None else known:
        if not measures.issuperset(tie.measures):
            continue
        if any(tie.columns <= stated for stated in records.independent):
            continue
        if (
            tie.always
            or any(_plain(one) in map(_plain, guarded) for one in tie.measures)
            or (policy and _tells_as_one(records, sheets, tie, policy, effort, Clock.of(seconds)))
        ):
            found.append(tie)
    if not found:
        return []
    said = " ".join(tie.text for tie in found[:NAMED])
    more = f" There are {len(found) - NAMED:,} more such ties." if len(found) > NAMED else ""
    names = ", ".join(f'"{name}"' for name in sorted(found[0].columns))
    text = (
        f"{said}{more} What they tell together of a guarded cell is not judged. Leave the tables "
        f"of one of them out; or, if it is chance, say independent = [[{names}]] in the list of "
        "tables, and check --independent with the same names."
    )
    return [Reason(NAME, Verdict.REVIEW, text)]


def _tells_as_one(
    records: Records, sheets: Iterable[Sheet], tie: Tie, policy: Policy, effort: float, clock: Clock
) -> bool:
    """Would all sheets of tied measures together tell too much if they were of any one of these?

    Each measure is judged by its own sheets, and none of these may cross as all of them do.
    """
    own = [sheet for sheet in sheets if _plain(sheet.measure) in tie.measures]
    for measure in dict.fromkeys(sheet.measure for sheet in own):
        alike = [dataclasses.replace(sheet, measure=measure) for sheet in own]
        case = SheetCase.of(records, alike, measure, policy)
        reasons = case.judge(case.printed(), effort=effort, seconds=clock)
        if measure.value is None:
            law = judge_by_law(
                records.behind(measure), alike, case.people(case.printed()), range(len(alike)),
                policy, effort=effort, clock=clock,
            )  # fmt: skip
            reasons = (
                [*reasons, *unjudged(alike, policy, law)]
                if isinstance(law, str)
                else joined(law, reasons)
            )
        if any(reason.verdict is not Verdict.PASS for reason in reasons):
            return True
    return False


def said_of(records: Records) -> Iterator[str]:
    """What a person said of measures, for the assumptions."""
    for names in records.independent:
        yield f"As was stated, tables of {both(sorted(names))} tell nothing of each other."


def ties(records: Records, sheets: Iterable[Sheet], policy: Policy | None = None) -> Iterator[Tie]:
    """Measures of the sheets that tell of each other, as closely as the policy guards a sum."""
    sheets = tuple(sheets)
    measures = [*dict.fromkeys(_plain(sheet.measure) for sheet in sheets)]
    if len(measures) < 2:
        return
    amounts = {one: _amounts(records, one) for one in measures}
    yield from _weights(records, measures)
    blank = {one: records.without(one) for one in measures}
    parts = {part.tobytes(): part for part in (_shown(records, sheet) for sheet in sheets)}
    parts[b""] = np.ones(len(records), bool)
    told = list[frozenset[Measure]]()
    for tie in _equations(measures, amounts, blank, parts.values()):
        told.append(frozenset(tie.measures))
        yield tie
    share = _guarded_share(policy or Policy())
    for tie in _nearly(records, sheets, amounts, blank, share):
        if not any(known <= {*tie.measures} for known in told):
            told.append(frozenset(tie.measures))
            yield tie
    yield from _of_counts(records, sheets, measures)
    yield from _at_an_end(records, sheets, measures, policy or Policy())


def _shown(records: Records, sheet: Sheet) -> Bools:
    """The records that are in a line of a sheet."""
    found = np.ones(len(records), bool)
    for grouping in (*sheet.groupings, *sheet.where):
        found &= np.asarray(grouping.members.any(0))[records.codes[grouping.name]]
    return found


def _weights(records: Records, measures: Sequence[Measure]) -> Iterator[Tie]:
    """The same amounts with several weights, or with one and none."""
    for one, other in combinations(measures, 2):
        if one.value != other.value:
            continue
        marks = [m.weight for m in (one, other) if m.weight and _marks(records.numbers[m.weight])]
        if one.value is None and marks:
            text = (
                f"{marks[0]} is 0 for some and the same for all others, so tables weighted by it "
                "and counts tell how many are of either kind."
            )
            yield Tie((one, other), text, always=True)
        else:
            text = (
                f"Tables show the {one} and the {other}: where the weights in a cell are equal, "
                "one follows from the other."
            )
            yield Tie((one, other), text)


def _marks(weights: Floats) -> bool:
    """Are some weights 0 and all others the same?"""
    return len(np.unique(weights)) == 2 and bool((weights == 0).any())


def _equations(
    measures: Sequence[Measure],
    amounts: Mapping[Measure, Floats],
    blank: Mapping[Measure, Bools],
    parts: Iterable[Bools],
) -> Iterator[Tie]:
    """Sums, differences, multiples and other linear combinations, in all records or a part."""
    if len(measures) > MOST_MEASURES:
        text = f"There are {len(measures):,} measures; whether some add up to others is not known."
        yield Tie(tuple(measures), text)
        return
    units = {one: unit_of(amounts[one]) for one in measures}
    found: list[frozenset[Measure]] = []
    for part in parts:
        own = {one: part & ~blank[one] for one in measures}
        for tie in (*_short(amounts, own, units), *_long(amounts, own, units)):
            if not any(known <= set(tie.measures) for known in found):
                found.append(frozenset(tie.measures))
                yield tie


def _short(
    amounts: Mapping[Measure, Floats],
    there: Mapping[Measure, Bools],
    units: Mapping[Measure, float],
) -> Iterator[Tie]:
    """Sums and differences of few measures."""
    for number in range(2, FEW_TERMS + 1 if len(there) <= FEW_MEASURES else 0):
        for some in combinations(there, number):
            whole = np.all([there[one] for one in some], axis=0)
            columns = np.column_stack([amounts[one][whole] for one in some])
            signs = _signs(columns, _near(columns, max(units[one] for one in some)))
            if signs is not None:
                yield Tie(some, f"In the data, {_spelled(some, signs)}.")


def _long(
    amounts: Mapping[Measure, Floats],
    there: Mapping[Measure, Bools],
    units: Mapping[Measure, float],
) -> Iterator[Tie]:
    """Any equations, of those measures that are known together of enough records."""
    bits = 1 << np.arange(len(there))
    for pattern in np.unique(np.column_stack([*there.values()]) @ bits)[:, None] & bits != 0:
        some = tuple(one for one, own in zip(there, pattern, strict=True) if own)
        if len(some) < 2:
            continue
        whole = np.all([there[one] for one in some], axis=0)
        columns = np.column_stack([amounts[one][whole] for one in some])
        if len(columns) > len(some) + 2:
            for places in _dependent(columns, _near(columns, max(units[one] for one in some))):
                own = tuple(one for one, needed in zip(some, places, strict=True) if needed)
                names = both([*map(str, own)])
                text = f"In the data, {names} are multiples, or one follows from the others."
                yield Tie(own, text)
        elif len(some) > FEW_TERMS:
            names = both([*map(str, some)])
            yield Tie(some, f"Too few records show whether {names} add up to each other.")


def _near(columns: Floats, unit: float) -> float:
    """What rounding may have lost; nothing where amounts are not far larger than their unit."""
    lost, size = columns.shape[1] / 2 * unit, np.abs(columns)
    usual = min(float(np.median(own[own > 0])) if own.any() else 0.0 for own in size.T)
    return (lost if lost <= SMALL * usual else 0.0) + CLOSE * float(size.max(initial=0.0))


def _signs(columns: Floats, near: float) -> tuple[int, ...] | None:
    """+1 and -1 with which the columns add up to 0 in nearly all records."""
    if not (np.abs(columns).max(0, initial=0.0) > 0).all():
        return None
    there = (columns != 0).any(1)
    for rest in product((1, -1), repeat=columns.shape[1] - 1):
        signs = (1, *rest)
        if -1 in rest and (np.abs(columns @ signs) <= near)[there].mean() >= HOLDS:
            return signs
    return None


def _dependent(columns: Floats, near: float) -> Iterator[Bools]:
    """Which columns are in an equation that nearly all records keep.

    What all records keep, and what some drawn ones do: with few errors, some draws are without any.
    """
    scale = np.abs(columns).max(0)
    scale[scale == 0] = 1.0
    size = columns.shape[1]
    rng = np.random.default_rng(size)
    filled = [np.flatnonzero(own) for own in columns.T]
    seen: list[tuple[bool, ...]] = []
    for trial in range(TRIALS):
        rows = np.arange(len(columns))
        if trial:
            own = [rng.choice(some, 2) for some in filled if len(some)]
            rows = np.unique(np.concatenate([*own, rng.choice(len(columns), size + 2)]))
        if len(rows) < size:
            continue
        for equation in _null(columns[rows] / scale, near / scale.min()):
            factors = equation / scale
            factors /= np.abs(factors).max()
            for least in (1e-2, 1e-6):
                there = np.abs(equation) > least
                if there.sum() < 2 or tuple(there) in seen:
                    break
                # where few of the first look keep it, all need not be asked
                if _kept(columns[:: 1 + len(columns) // FIRST], there, factors, near) < HOLDS / 2:
                    continue
                if _kept(columns, there, factors, near) >= HOLDS:
                    seen.append(tuple(there))
                    yield there
                    break


def _kept(columns: Floats, there: Bools, factors: Floats, near: float) -> float:
    """The share of records with some amount of an equation that keep it."""
    some = (columns[:, there] != 0).any(1)
    off = np.abs(columns[some][:, there] @ factors[there])
    return float((off <= near * columns.shape[1]).mean()) if len(off) else 1.0


def _null(rows: Floats, near: float) -> Floats:
    """Equations that some rows keep, each with as few terms as elimination leaves."""
    _, sizes, ways = np.linalg.svd(rows, full_matrices=False)
    basis = ways[sizes <= near * math.sqrt(rows.size) + CLOSE * sizes[0]]
    for place in range(len(basis)):
        pivot = int(np.argmax(np.abs(basis[place])))
        basis[place] /= basis[place, pivot]
        others = np.arange(len(basis)) != place
        basis[others] -= np.outer(basis[others, pivot], basis[place])
    return np.asarray(basis)


def _spelled(some: Sequence[Measure], signs: Sequence[int]) -> str:
    """`the sum of Turnover is that of Domestic and that of Export together`."""
    left = [str(one) for one, sign in zip(some, signs, strict=True) if sign > 0]
    right = [str(one) for one, sign in zip(some, signs, strict=True) if sign < 0]
    if len(right) == 1 and len(left) > 1:
        left, right = right, left
    return f"the {' + the '.join(left)} = the {' + the '.join(right)}"


def _guarded_share(policy: Policy) -> float:
    """The largest share of a sum within which a rule on contributors lets nobody know it."""
    rule = policy.contributors
    shares = [rule.range / 100]
    if rule.p:
        shares.append(rule.p / rule.q)
    if rule.n:
        shares.append(100 / rule.k - 1)
    return float(min(max(shares), MOST_SHARE))


def _nearly(
    records: Records,
    sheets: Sequence[Sheet],
    amounts: Mapping[Measure, Floats],
    blank: Mapping[Measure, Bools],
    share: float,
) -> Iterator[Tie]:
    """Measures that follow from others to within a share, of all records or of a category."""
    if len(amounts) > MOST_MEASURES:
        return
    parts = [("", np.ones(len(records), bool))]
    for name, variable in variables_of(sheets).items():
        codes = np.asarray(records.codes[name])
        for code, category in enumerate(variable.categories):
            parts.append((f", where {name} is {category}", codes == code))
    for where, part in parts:
        own = {one: part & ~blank[one] for one in amounts}
        for one in amounts:
            for others in _from_others(one, amounts, own, share):
                names = both([*map(str, others)])
                text = f"In the data, the {one} follows from the {names} to within {share:.0%}"
                yield Tie((one, *others), f"{text}{where}.")


def _from_others(
    one: Measure,
    amounts: Mapping[Measure, Floats],
    there: Mapping[Measure, Bools],
    share: float,
) -> Iterator[tuple[Measure, ...]]:
    """Each other measure of which one is nearly a multiple; if there is none, the fewest of all
    others that tell it together.
    """
    others = [other for other in amounts if other != one]
    single = [(other,) for other in others if _told(one, (other,), amounts, there, share)]
    yield from single
    if single or len(others) < 2 or not _told(one, others, amounts, there, share):
        return
    for other in tuple(others):
        fewer = [left for left in others if left != other]
        if len(fewer) > 1 and _told(one, fewer, amounts, there, share):
            others = fewer
    yield tuple(others)


def _told(
    one: Measure,
    others: Sequence[Measure],
    amounts: Mapping[Measure, Floats],
    there: Mapping[Measure, Bools],
    share: float,
) -> bool:
    """Is one measure nearly a sum of multiples of others, in nearly all of enough records?"""
    whole = np.flatnonzero(np.all([there[m] for m in (one, *others)], axis=0))
    whole = whole[:: 1 + len(whole) // FIRST]
    value = amounts[one][whole]
    known = np.column_stack([amounts[other][whole] for other in others])
    some = value > 0
    if some.sum() < ENOUGH * len(others) or not (known[some] > 0).any(0).all():
        return False
    # each record is one, or as much as it adds: what holds of the large ones tells their cells
    return any(_mostly(value, known, np.sqrt(much), share) for much in (np.ones(len(value)), value))


def _fitted(known: Floats, value: Floats) -> Floats:
    """Least squares; of one factor the median, which few errors cannot move."""
    if known.shape[1] > 1:
        return np.asarray(np.linalg.lstsq(known, value, rcond=None)[0])
    ratios = known[:, 0] / value
    order = np.argsort(ratios)
    half = np.cumsum(value[order] ** 2)
    middle = ratios[order[int(np.searchsorted(half, half[-1] / 2))]]
    return np.array([1 / middle if middle > 0 else 0.0])


def _mostly(value: Floats, known: Floats, weight: Floats, share: float) -> bool:
    """Do multiples of others tell a value to within a share in nearly all of the weight?"""
    some = value > 0
    own, much = weight[some, None], weight[some] ** 2
    if much.sum() ** 2 < FEW_LARGE * (much**2).sum():  # one record is nearly all
        return False
    ratios, kept = known[some] / value[some, None], np.ones(int(some.sum()), bool)
    for _ in range(ROUNDS):  # without those that a few errors put farthest off
        factors = _fitted((own * ratios)[kept], own[kept, 0])
        off = np.abs(ratios @ factors - 1)
        if much[off > share].sum() > much.sum() / 2:  # a few errors do not put it so far off
            return False
        kept = off <= np.quantile(off, HOLDS)
    wrong = much[off > share].sum() + (weight[~some] ** 2)[known[~some] @ factors != 0].sum()
    there = much.sum() + (weight[~some] ** 2)[(known[~some] > 0).any(1)].sum()
    return bool(wrong <= (1 - HOLDS) * there)


def _of_counts(
    records: Records, sheets: Sequence[Sheet], measures: Sequence[Measure]
) -> Iterator[Tie]:
    """Sums of amounts that are the same for everybody of a kind, beside counts of these people."""
    for one, other in product(measures, repeat=2):
        if one.value is None or other.value is not None or one.weight != other.weight:
            continue
        values = records.numbers[one.value][~records.without(one)]
        some = np.unique(values)
        if len(some) == 2:
            text = (
                f"{one.value} is {some[0]:g} or {some[1]:g} for everybody, so its sum and the "
                "count tell how many have each."
            )
            yield Tie((one, other), text, always=True)
        elif (name := _fixed_by(records, sheets, one)) is not None:
            text = (
                f"{one.value} is the same for all of a category of {name}, so its sum is a count."
            )
            yield Tie((one, other), text)


def _at_an_end(
    records: Records, sheets: Sequence[Sheet], measures: Sequence[Measure], policy: Policy
) -> Iterator[Tie]:
    """A sensitive value beside counts: where all have the least or the most there is, both tell it.

    Cells of fewer than the least number of contributors are hidden anyway.
    """
    if not policy.attribute.check:
        return
    for one, other in product(measures, repeat=2):
        if one.value not in records.sensitive or other.value or one.weight != other.weight:
            continue
        values, there = records.numbers[str(one.value)], ~records.without(one)
        system = System.of([s for s in sheets if _plain(s.measure) in (one, other)])
        number = system.sums @ system.fine(records.codes, there.astype(float))
        for end, word in ((values[there].min(), "least"), (values[there].max(), "most")):
            own = system.sums @ system.fine(records.codes, (there & (values == end)).astype(float))
            if ((own == number) & (number >= max(policy.contributors.least, 1))).any():
                text = (
                    f"{one.value} is sensitive, and all of a line have the {word} that anybody "
                    f"has, {end:g}, as its sum and the count tell."
                )
                yield Tie((one, other), text, always=True)


def _fixed_by(records: Records, sheets: Sequence[Sheet], measure: Measure) -> str | None:
    """A variable in each category of which all have one value."""
    there = ~records.without(measure)
    values = records.numbers[str(measure.value)][there]
    for name, variable in variables_of(sheets).items():
        codes = np.asarray(records.codes[name], np.int64)[there]
        people = np.bincount(codes, minlength=variable.size)
        low, high = np.full(variable.size, np.inf), np.full(variable.size, -np.inf)
        np.minimum.at(low, codes, values)
        np.maximum.at(high, codes, values)
        if 2 * (people > 0).sum() <= len(values) and (low[people > 0] == high[people > 0]).all():
            return name
    return None


def _amounts(records: Records, measure: Measure) -> Floats:
    amount = records.people.astype(float)
    if measure.value is not None:
        amount = records.numbers[measure.value]
    return amount * records.numbers[measure.weight] if measure.weight else amount


def _plain(measure: Measure) -> Measure:
    return Measure(measure.value, measure.weight)


def _columns(measure: Measure) -> Iterator[str]:
    yield measure.value or COUNTED
    if measure.weight:
        yield measure.weight
