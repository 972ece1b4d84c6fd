"""The law of sheets: nothing passes that enumeration of all tables shows to be unsafe.

Random data, hierarchies, codings, filters, linked sheets, roles, impossible combinations and
policies, against every table of whole numbers that fits what is printed.
"""

import dataclasses
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from discreet.data.codebook import Role
from discreet.decision.batch.judge import judge_batch
from discreet.decision.batch.masking import mask
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.masks.suppress.problem import Unprotectable
from discreet.sheets.grouping import Grouping
from discreet.sheets.records import Records
from discreet.sheets.sheet import Measure, Sheet
from discreet.table.microdata import Microdata
from discreet.table.table import Table
from sheetcases import World, random_case, rounded, suppressed

PASS, FAIL = Verdict.PASS, Verdict.FAIL
TALLY = dict[tuple[str, bool], int]


def unsafe(world):
    """What is broken; nothing if the tables are too many to list."""
    return [] if world.tables is None else world.broken()


def check_judged(rng) -> TALLY:
    """Each sheet, and all together."""
    case = random_case(rng)
    batch = judge_batch(case.records, case.sheets, case.policy)
    tally: TALLY = {}
    asked = [((sheet,), one) for sheet, one in zip(case.sheets, batch.each, strict=True)]
    for sheets, judged in [*asked, (case.sheets, batch.together)]:
        world = World(case, sheets)
        if world.tables is None:
            continue
        broken = world.broken()
        assert not (judged.verdict is PASS and broken), f"{broken}\n{case.said()}"
        key = str(judged.verdict), bool(broken)
        tally[key] = tally.get(key, 0) + 1
    return tally


def masked_case(rng):
    """Larger groups behind gaps: test_attributes_of_large_groups_behind_gaps."""
    case = random_case(rng, whole=bool(rng.random() < 0.3))
    return dataclasses.replace(case, policy=case.policy.change({"attribute.order": 4}))


def check_suppressed(rng) -> TALLY:
    """By what is left printed, and that a gap is no zero."""
    case = masked_case(rng)
    try:
        made = mask(case.records, case.sheets, case.policy)
    except Unprotectable:
        return {}
    world = World(case, case.sheets, suppressed(case, made.shown()))
    return _compared(case, world, made)


def check_rounded(rng) -> TALLY:
    case = masked_case(rng)
    kind = str(rng.choice(["controlled", "conventional", "random"]))
    base, seed = int(rng.integers(2, 6)), int(rng.integers(1 << 30))
    made = mask(
        case.records, case.sheets, case.policy, method="round", base=base, kind=kind, seed=seed
    )
    return _compared(case, World(case, case.sheets, rounded(case, made.masked[0])), made)


def _compared(case, world, made) -> TALLY:
    if world.tables is None:
        return {}
    assert (world.tables == world.truth.ravel()).all(1).any(), case.said()
    broken = world.broken()
    assert not (made.verdict is PASS and broken), f"{broken}\n{case.said()}\n{made.shown()}"
    return {(str(made.verdict), bool(broken)): 1}


def check_part(rng) -> TALLY:
    """The part does not fail and is the largest, who is to blame fails, and nobody less."""
    case = random_case(rng, sheets=4)
    batch = judge_batch(case.records, case.sheets, case.policy)
    named = {sheet.name: sheet for sheet in case.sheets}

    def verdict(names):
        return judge_batch(case.records, [named[n] for n in names], case.policy).verdict

    if batch.part:
        assert verdict(batch.part) is not FAIL, case.said()
        if batch.part_judged.verdict is PASS:
            assert not unsafe(World(case, [named[n] for n in batch.part])), case.said()
    if batch.proven:
        for number in range(len(batch.part) + 1, 5):
            for names in combinations(named, number):
                assert verdict(names) is FAIL, f"{names} can go\n{case.said()}"
    for blame in batch.blames:
        assert verdict(blame.names) is FAIL, f"{blame.names}\n{case.said()}"
        for number in range(1, len(blame.names)):
            for fewer in combinations(blame.names, number):
                assert verdict(fewer) is not FAIL, f"{fewer} of {blame.names}\n{case.said()}"
    return {("part", len(batch.part) < 4): 1}


CHECKS = {
    "judged": (check_judged, 60),
    "suppressed": (check_suppressed, 20),
    "rounded": (check_rounded, 30),
    "part": (check_part, 6),
}
CEILINGS = {"judged": 0.2, "suppressed": 0.35, "rounded": 0.95}  # safe cases that do not pass


def run(name, seeds) -> TALLY:
    """One check over many cases, and what came out."""
    total: TALLY = {}
    for seed in seeds:
        for key, number in CHECKS[name][0](np.random.default_rng(seed)).items():
            total[key] = total.get(key, 0) + number
    return total


def refused(tally: TALLY) -> float:
    """The share of safe cases that were not passed."""
    safe = sum(n for (_, broken), n in tally.items() if not broken)
    return sum(n for (v, broken), n in tally.items() if not broken and v != "PASS") / safe


@pytest.mark.parametrize("name", CHECKS)
def test_nothing_unsafe_passes(name):
    tally = run(name, range(CHECKS[name][1]))
    assert sum(tally.values()) >= CHECKS[name][1] // 2
    if name in CEILINGS:
        assert ("PASS", False) in tally
        assert refused(tally) < CEILINGS[name]


# Cases that came out of it, made small


def sheets_of(array, roles, sensitive=()):
    """Records of a table, and its variables; the first category of some is sensitive."""
    names = {n: [f"{n.lower()}{i}" for i in range(k)] for n, k in zip("ABC", np.shape(array))}  # noqa: B905
    table = Table.of(np.array(array), **names)
    variables = tuple(
        dataclasses.replace(v, role=r, sensitive=v.categories[:1] if v.name in sensitive else ())
        for v, r in zip(table.variables, roles, strict=True)
    )
    return Records.of_table(dataclasses.replace(table, variables=variables)), variables


QUIET = {"attribute.check": False, "published.least": 0, "small.width": 0}


def test_a_small_total_over_what_identifies_nobody_is_guarded():
    """1 person is a1 or a2; the fine cells are open by 1, the printed total is not."""
    records, (a, b) = sheets_of([[3, 5], [1, 0], [0, 0]], [Role.IDENTIFYING, Role.NEITHER])
    own = {"a1 or a2": ["a1", "a2"], "a0 or a1": ["a0", "a1"]}
    sheet = Sheet("1", (Grouping.cut(a, own), Grouping.of(b)))
    policy = Policy.of(QUIET | {"small.most": 1, "small.width": 1})
    assert judge_batch(records, [sheet], policy).verdict is FAIL


@pytest.mark.parametrize("chosen", [["a0"], ["a0", "a1"]])
def test_a_filter_on_a_hidden_category_is_a_line_of_it(chosen):
    identifying = [Role.IDENTIFYING] * 2
    records, (a, b) = sheets_of([[9, 8], [7, 9], [6, 5], [8, 9]], identifying)
    sheet = Sheet("1", (Grouping.of(b),), where=(Grouping.only(a, chosen),))
    policy = Policy.of(QUIET | {"categories.hidden": "A=a0; A=a1"})
    assert judge_batch(records, [sheet], policy).verdict is FAIL
    made = mask(records, [sheet], policy)
    assert np.isnan(made.shown()[0][1]).all()


def magnitude(rows, names):
    measure = Measure(value="v")
    people = Microdata.read(pd.DataFrame(rows, columns=[*names, "v"]), records=True)
    records = Records.read(people, variables=[*names], measures=[measure])
    return records, measure, records.variables


def test_the_part_does_not_tell_what_only_another_sheet_prints():
    """7 of one firm in a1, b1 = a1 less a1, b0; sheet 3, which prints it, cannot go."""
    rows = [("a0", b, 10) for b in ("b0", "b1") for _ in range(5)]
    rows += [("a1", "b0", 10)] * 5 + [("a1", "b1", 7)]
    records, measure, (a, b) = magnitude(rows, "AB")
    sheets = [
        Sheet("1", (Grouping.of(a),), measure),
        Sheet("2", (Grouping.of(a),), measure, where=(Grouping.only(b, ["b0"]),)),
        Sheet("3", (Grouping.of(a), Grouping.of(b)), measure),
    ]
    policy = Policy.of({"contributors.least": 3, "contributors.p": 0})
    batch = judge_batch(records, sheets, policy)
    assert len(batch.part) == 1
    assert batch.blames[0].names == ("1", "2")


def test_what_follows_across_parts_is_judged_of_sums():
    """b0 is 107 by sheet 1, of these 100 are in a0 by sheet 2: one firm has 7 in b0, a1."""
    rows = [("a0", b, c, 10) for b in ("b0", "b1") for c in ("c0", "c1") for _ in range(5)]
    rows += [("a1", "b1", c, 10) for c in ("c0", "c1") for _ in range(5)]
    rows += [("a1", "b0", "c0", 7)]
    records, measure, (a, b, c) = magnitude(rows, "ABC")
    sheets = [
        Sheet("1", (Grouping.of(b), Grouping.of(c)), measure),
        Sheet("2", (Grouping.of(b),), measure, where=(Grouping.only(a, ["a0"]),)),
    ]
    policy = Policy.of({"contributors.least": 3, "contributors.p": 0})
    batch = judge_batch(records, sheets, policy)
    assert [judged.verdict for judged in batch.each] == [PASS, PASS]
    assert batch.together.verdict is FAIL


def test_attributes_behind_gaps_without_a_total():
    """(a1, c0) = 5 and (a1, c1) = 0 are printed: everybody in a1 has c0."""
    records, (a, c) = sheets_of(
        [[4, 3], [5, 0], [2, 6], [1, 3]], [Role.IDENTIFYING, Role.SENSITIVE]
    )
    sheet = Sheet("1", (Grouping.of(a), Grouping.of(c, total=False)))
    keys = {"published.least": 2, "small.most": 1, "small.width": 1, "attribute.share": 1.0}
    made = mask(records, [sheet], Policy.of(keys))
    assert made.shown()[0][1][2].tolist() == [5, 0]
    assert made.verdict is not PASS


def test_attributes_of_large_groups_behind_gaps():
    """In b0, c0 are 12 = 4 + 3 + 5 of a0, a2, a3: nobody there has a1, which has no line."""
    rest = [[[9, 9], [9, 9]], [[9, 9], [9, 9]], [[9, 9], [9, 9]], [[3, 3], [3, 1]]]
    first = [[4, 9], [0, 9], [3, 9], [5, 9]]
    counts = [[own, *others] for own, others in zip(first, rest, strict=True)]
    records, (a, b, c) = sheets_of(counts, [Role.SENSITIVE, *[Role.IDENTIFYING] * 2])
    lines = Grouping.of(a).keep(["Total", "a0", "a2", "a3"])
    sheet = Sheet("1", (lines, Grouping.of(b), Grouping.of(c)))
    keys = {"published.least": 2, "small.width": 1, "attribute.order": 1, "attribute.share": 1.0}
    made = mask(records, [sheet], Policy.of(keys))
    if made.shown()[0][1][:, 1, 1].tolist() != [12, 4, 3, 5]:
        pytest.skip("another pattern hides some of them")
    assert made.verdict is not PASS


def test_what_is_told_of_everybody_is_hidden():
    """10 of 14 are a0, 71 percent: its total goes, and 7 to 11 fit what is left."""
    records, (a, b) = sheets_of([[6, 4], [2, 2]], [Role.BOTH, Role.SENSITIVE], "AB")
    sheet = Sheet("1", (Grouping.of(a), Grouping.of(b)))
    keys = QUIET | {"attribute.check": True, "attribute.share": 0.7, "attribute.exclusion": False}
    made = mask(records, [sheet], Policy.of(keys))
    assert made.verdict is PASS
    assert np.isnan(made.shown()[0][1][1, 0])
