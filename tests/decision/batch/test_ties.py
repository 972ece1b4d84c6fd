"""What ties tables together: variables within others, codings, measures that add up.

The oracle shares no code with the program: it lists the combinations that the records can have and
bounds each hidden cell by linear programs.
"""

import dataclasses
import re
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

from discreet.data.codebook import Codebook
from discreet.decision.batch.judge import judge_batch
from discreet.decision.batch.masking import mask
from discreet.decision.batch.out import out_of
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.errors import InconsistentRelease
from discreet.report.checked import check, values_from
from discreet.sheets.grouping import Grouping
from discreet.sheets.records import Records
from discreet.sheets.released import read_manifest, read_released
from discreet.sheets.sheet import COUNT, Measure, Sheet, Status
from discreet.table.microdata import Microdata

PASS, REVIEW, FAIL = Verdict.PASS, Verdict.REVIEW, Verdict.FAIL
TURNOVER = Measure("Turnover")
OWN = ("District", "Sector", "Size")
BATCHES = (
    (("Region",), ("District",)),
    (("Region", "Sector"), ("District", "Sector")),
    (("Region", "Sector"), ("District", "Size")),
    (("Region", "District"), ("District", "Sector")),
)


def firms(seed, number=None):
    """Firms in districts that lie within regions."""
    rng = np.random.default_rng(seed)
    many, districts = number or int(rng.integers(40, 120)), int(rng.integers(4, 8))
    regions = int(rng.integers(2, 4))
    home = np.r_[np.arange(regions), rng.integers(0, regions, districts - regions)]
    district = rng.choice(districts, many, p=rng.dirichlet(np.full(districts, 2.0)))
    return pd.DataFrame(
        {
            "Region": [f"R{home[d]}" for d in district],
            "District": [f"D{d}" for d in district],
            "Sector": [f"S{s}" for s in rng.integers(0, 3, many)],
            "Size": [f"Z{z}" for z in rng.integers(0, 3, many)],
            "Turnover": np.rint(rng.lognormal(4, 1, many)) + 1,
        }
    )


def tables(frame, shown, measures=(TURNOVER,), **stated):
    """Records and a table of each measure for each set of variables."""
    book = {name: {"within": outer} for name, outer in stated.items()}
    people = Microdata.read(frame, records=True, codebook=Codebook.of(book) if book else None)
    names = [n for n in frame.columns if any(n in own for own in shown)]
    records = Records.read(people, variables=names, measures=measures)
    sheets = [
        Sheet(f"{measure}, {own}", tuple(Grouping.of(records.variable(n)) for n in own), measure)
        for measure in measures
        for own in shown
    ]  # fmt: skip
    return records, sheets


def narrow(frame, shown, policy):
    """Hidden sums that the printed ones tell too closely, to who knows where districts lie."""
    region = dict(zip(frame.District, frame.Region, strict=True))
    domains = [sorted(set(frame[name])) for name in OWN]
    fine = [dict(zip(OWN, at, strict=True)) for at in product(*domains)]
    fine = [at | {"Region": region[at["District"]]} for at in fine]
    rows, sides, hidden = [], [], []
    for sheet, values in shown:
        for at in np.ndindex(values.shape):
            labels = {g.name: g.labels[i] for g, i in zip(sheet.groupings, at, strict=True)}
            labels = {name: one for name, one in labels.items() if one != "Total"}
            row = [float(all(cell[n] == one for n, one in labels.items())) for cell in fine]
            if np.isnan(values[at]):
                hidden.append((labels, row))
            else:
                rows, sides = [*rows, row], [*sides, values[at]]
    found = []
    for labels, row in hidden:
        own = frame
        for name, one in labels.items():
            own = own[own[name] == one]
        largest = np.sort(own.Turnover.to_numpy())[::-1]
        total = largest.sum()
        need = policy.contributors.p / 100 * largest[:1].sum() - largest[2:].sum()
        if 0 < len(largest) < policy.contributors.least:
            need = max(need, policy.contributors.range / 100 * total)
        if need > 0:
            low = linprog(row, A_eq=rows, b_eq=sides, method="highs")
            high = linprog([-x for x in row], A_eq=rows, b_eq=sides, method="highs")
            top = -high.fun if high.status == 0 else np.inf
            if low.fun > total - need + 1e-3 or top < total + need - 1e-3:
                found.append(labels)
    return found


@pytest.mark.parametrize("stated", [{}, {"District": "Region"}])
def test_sums_by_a_variable_and_by_one_within_it_are_hidden_together(stated):
    """Six of twenty such masks told a firm's sum before, and were PASS."""
    policy = Policy.of({"contributors.alone": False})
    for seed in range(6):
        frame = firms(seed)
        made = mask(*tables(frame, BATCHES[seed % len(BATCHES)], **stated), policy)
        assert made.verdict is PASS, seed
        assert not narrow(frame, made.shown(), policy), seed


def test_two_codings_of_one_number_are_one_variable():
    """Those of size 10 are in the first class of one coding and in the second of the other."""
    size = np.repeat([3, 7, 10, 14, 18, 25], [27, 24, 2, 27, 24, 21])
    ten = np.where(size < 10, "under 10", np.where(size < 20, "10 to 19", "20 and over"))
    eleven = np.where(size < 11, "under 11", np.where(size < 20, "11 to 19", "20 or more"))
    frame = pd.DataFrame({"Size10": ten, "Size11": eleven, "Turnover": 10.0 + np.arange(len(size))})
    records, sheets = tables(frame, (("Size10",), ("Size11",)))
    batch = judge_batch(records, sheets)
    assert [one.verdict for one in batch.each] == [PASS, PASS]
    assert batch.together.verdict is FAIL  # the two firms are the difference of two printed sums
    made = mask(records, sheets)
    assert made.verdict is PASS
    assert made.hidden >= 2


def amounts(number=50):
    rng = np.random.default_rng(1)
    domestic = np.rint(rng.lognormal(4, 1, number))
    export = np.rint(rng.lognormal(3, 1, number) * (rng.random(number) < 0.5))
    turnover = domestic + export
    return pd.DataFrame(
        {
            "R": rng.integers(0, 4, number).astype(str),
            "S": rng.integers(0, 4, number).astype(str),
            "Turnover": turnover,
            "Domestic": domestic,
            "Export": export,
            "Tax": np.rint(turnover / 4),
            "Other": rng.lognormal(3, 1, number).round(2),
            "Weight": rng.choice([2.0, 3.0], number),
            "Flag": rng.integers(0, 2, number).astype(float),
            "Fee": 5.0,
        }
    )


@pytest.mark.parametrize(
    ("measures", "tied"),
    [
        (("Turnover", "Domestic", "Export"), {"Turnover", "Domestic", "Export"}),
        (("Turnover", "Tax"), {"Turnover", "Tax"}),
        (("Turnover", "Domestic", "Other"), None),
        ((None, ":Weight"), {"count", "Weight"}),
        (("Turnover", "Turnover:Weight"), {"Turnover", "Weight"}),
        ((None, "Flag"), {"Flag", "count"}),
        ((None, "Fee"), {"Fee", "count"}),
        ((None, "Turnover"), None),
    ],
)
def test_measures_that_tell_of_each_other_are_review_until_a_person_speaks(measures, tied):
    """Each measure is judged by itself: Turnover - Domestic is a hidden Export."""
    both = []
    for one in measures:
        value, _, weight = (one or "").partition(":")
        both.append(Measure(value or None, weight or None))
    records, sheets = tables(amounts(), (("R", "S"),), tuple(both))
    policy = Policy.of({"attribute.check": False, "contributors.alone": False})
    made = mask(records, sheets, policy)
    told = [reason for reason in made.judged.reasons if reason.rule == "measures together"]
    assert made.verdict is (REVIEW if tied else PASS)
    assert bool(told) == bool(tied)
    if tied:
        assert all(f'"{name}"' in told[0].text for name in tied)
        spoken = dataclasses.replace(records, independent=(frozenset(tied),))
        made = mask(spoken, sheets, policy)
        assert made.verdict is PASS
        assert "As was stated" in made.said[-1]


@pytest.mark.parametrize(
    ("made_of", "noise", "verdict"),
    [
        ({"Turnover": 1.0}, 0.005, REVIEW),
        ({"Turnover": 0.21}, 0.03, REVIEW),
        ({"Turnover": 0.21}, 0.3, PASS),
        ({"Domestic": 1.0, "Export": 1.0}, 0.005, REVIEW),
        ({"Domestic": 1.0, "Export": 3.0}, 0.04, REVIEW),
        ({"Domestic": 1.0, "Export": 3.0}, 0.4, PASS),
    ],
)
def test_measures_that_follow_from_others_as_closely_as_is_guarded(made_of, noise, verdict):
    """A hidden cell of one follows to within .5% from what is printed of the others."""
    frame, rng = amounts(200), np.random.default_rng(3)
    whole = sum(factor * frame[name] for name, factor in made_of.items())
    frame["Near"] = (whole * (1 + noise * rng.standard_normal(200)).clip(0.1)).round(3)
    frame["Export"] += 1.0
    if len(made_of) == 1:
        frame.loc[5, "Near"] *= 1_000.0  # one that is written in another unit
    measures = tuple(map(Measure, ("Near", *made_of)))
    policy = {"attribute.check": False, "contributors.alone": False, "contributors.least": 9}
    made = mask(*tables(frame, (("R", "S"),), measures), Policy.of(policy))
    assert made.hidden
    assert made.verdict is verdict
    if noise == 0.04:  # an office that guards less is told less
        narrow = policy | {"contributors.range": 1.0, "contributors.p": 1.0}
        made = mask(*tables(frame, (("R", "S"),), measures), Policy.of(narrow))
        assert made.verdict is PASS


@pytest.mark.parametrize(("step", "verdict"), [(200.0, REVIEW), (5_000.0, PASS)])
def test_measures_that_are_alike_in_the_largest_records(step, verdict):
    """Most firms are so small that hundreds say little of them, and of those that count much."""
    frame, rng = amounts(300), np.random.default_rng(4)
    frame["Turnover"] = np.rint(rng.lognormal(5, 2, 300)) + 1
    frame["Hundreds"] = np.rint(frame.Turnover / step) * step + rng.integers(0, 40, 300)
    measures = (TURNOVER, Measure("Hundreds"))
    policy = Policy.of({"contributors.alone": False, "contributors.least": 18})
    made = mask(*tables(frame, (("R", "S"),), measures), policy)
    assert made.hidden
    assert made.verdict is verdict


@pytest.mark.parametrize("second", ["Domestic", None])
def test_an_equation_of_measures_in_one_category_alone(second):
    """Nobody in region 0 exports, and all pay one fee there: a turnover and a number follow."""
    frame = amounts(120)
    here = frame.R == "0"
    frame["Domestic"] = (frame.Domestic * np.where(np.arange(120) % 3, 0.3, 1.0)).round()
    frame["Turnover"] = np.where(here, frame.Domestic, frame.Turnover)
    frame["Fee"] = np.where(here, 5.0, frame.Other)
    first = "Fee" if second is None else "Turnover"
    policy = Policy.of(
        {"contributors.least": 8, "attribute.check": False, "contributors.alone": False}
    )
    records, sheets = tables(frame, (("R", "S"),), (Measure(first), Measure(second)))
    made = mask(records, sheets, policy)
    assert made.hidden
    assert made.verdict is REVIEW
    assert "R is 0" in "".join(reason.text for reason in made.judged.reasons)
    others = frame[~here].reset_index(drop=True)
    made = mask(*tables(others, (("R", "S"),), (Measure(first), Measure(second))), policy)
    assert made.verdict is PASS


@pytest.mark.parametrize(("third", "verdict"), [(150.0, REVIEW), (250.0, PASS)])
def test_what_another_measure_leaves_of_one_that_is_never_larger(third, verdict):
    """Two export all they sell: 2,000 of a turnover of 2,150, so that 2,200 is out of reach."""
    rng = np.random.default_rng(0)
    rows = [("N", 1000.0, 1000.0), ("N", 1000.0, 1000.0), ("N", 0.0, third)]
    for region in "SEW" * 8:
        export = float(rng.integers(100, 300))
        rows.append((region, export, export + float(rng.integers(200, 900))))
    frame = pd.DataFrame(rows, columns=["R", "Export", "Turnover"])
    both = tuple(map(Measure, ("Export", "Turnover")))
    records, sheets = tables(frame, (("R",),), both)
    policy = Policy.of({"contributors.p": 5.0})
    made = mask(records, sheets, policy)
    assert made.hidden
    assert made.verdict is verdict
    printed = {sheet.name: values for sheet, values in made.shown()}
    out = dict(zip((sheet.name for sheet in sheets), printed.values(), strict=True))
    is_out = [dataclasses.replace(one, status=Status.OUT) for one in sheets]
    wanted = Sheet("more", sheets[1].groupings, both[1])
    judged = judge_batch(records, [*is_out, wanted], policy, out=out)
    assert judged.together.verdict is verdict
    spoken = dataclasses.replace(records, independent=(frozenset({"Export", "Turnover"}),))
    assert mask(spoken, sheets, policy).verdict is PASS


@pytest.mark.parametrize(("rest", "verdict"), [(5.0, REVIEW), (100.0, PASS)])
def test_what_the_other_parts_leave_of_a_measure(rest, verdict):
    """Two export 1,000 each; of a turnover of 5,015, domestic sales leave 2,015 for exports."""
    rng = np.random.default_rng(0)
    rows = [("N", 1000.0, 1000.0, 2000 + rest)] * 2 + [("N", 0.0, 1000.0, 1000 + rest)]
    for region in "SEW" * 8:
        export, home = (float(x) for x in rng.integers(100, 300, 2))
        rows.append((region, export, home, export + home + float(rng.integers(90, 400))))
    frame = pd.DataFrame(rows, columns=["R", "Export", "Domestic", "Turnover"])
    measures = tuple(map(Measure, ("Export", "Domestic", "Turnover")))
    made = mask(*tables(frame, (("R",),), measures))
    assert made.hidden
    assert made.verdict is verdict


@pytest.mark.parametrize(
    ("large", "counted", "verdict"),
    [
        ((260.0,), False, REVIEW),  # at least 250, and 234 must be possible
        ((260.0, 255.0), True, REVIEW),  # at least 500, and 463.5 must be
        ((260.0, 255.0), False, PASS),  # nobody says that they are two
        ((800.0, 700.0), True, PASS),
    ],
)
def test_a_class_of_the_value_says_what_each_in_it_has_at_least(large, counted, verdict):
    rng, rows = np.random.default_rng(1), []
    for sector in "ABC":
        for size, low, high, number in (("1-9", 1, 9, 12), ("10-249", 10, 249, 9)):
            rows += [(sector, size, float(x)) for x in rng.integers(low, high + 1, number)]
        many = large if sector == "A" else rng.integers(250, 900, 5)
        rows += [(sector, "250+", float(x)) for x in many]
    frame = pd.DataFrame(rows, columns=["Sector", "Size", "Staff"])
    staff = Measure("Staff")
    measures = (COUNT, staff) if counted else (staff,)
    records, sheets = tables(frame, (("Sector", "Size"),), measures)
    plain = {"published.least": 0, "small.width": 0, "attribute.check": False}
    policy = Policy.of(plain | {"contributors.alone": False})
    made = mask(records, sheets, policy)
    assert made.hidden
    assert made.verdict is verdict
    spoken = dataclasses.replace(records, independent=(frozenset({"Size", "Staff"}),))
    assert mask(spoken, sheets, policy).verdict is PASS


@pytest.mark.parametrize(
    ("score", "role", "verdict"),
    [(1.0, "sensitive", REVIEW), (5.0, "sensitive", REVIEW), (3.0, "sensitive", PASS),
     (1.0, "unstated", PASS)],
)  # fmt: skip
def test_all_have_the_least_or_the_most_of_a_sensitive_value(score, role, verdict):
    """60 people have 60 points together: one each, on a scale from 1 to 5."""
    rows = [("N", score)] * 60 + [(r, float(x)) for r in "SEW" for x in (1, 2, 3, 4, 5) * 8]
    people = Microdata.read(
        pd.DataFrame(rows, columns=["R", "Score"]), records=True,
        codebook=Codebook.of({"R": {"role": "identifying"}, "Score": {"role": role}}),
    )  # fmt: skip
    points = Measure("Score")
    records = Records.read(people, variables=["R"], measures=[points])
    lines = (Grouping.of(records.variable("R")),)
    sheets = [Sheet("people", lines), Sheet("points", lines, points)]
    assert judge_batch(records, sheets).together.verdict is verdict
    assert mask(records, sheets).verdict is verdict
    assert mask(records, sheets[1:]).verdict is PASS
    unasked = Policy.of({"attribute.check": False})
    assert mask(records, sheets, unasked).verdict is PASS


@pytest.mark.parametrize(("zeros", "hidden"), [(True, True), (False, False)])
def test_a_printed_zero_tells_what_each_of_a_few_has(zeros, hidden):
    """Two firms are in R1, S0 and have 0 each; in R0, S1 nobody is, and its 0 can be printed."""
    rows = [("R0", "S0", 30.0), ("R1", "S1", 40.0), ("R2", "S0", 50.0), ("R2", "S1", 60.0)] * 5
    frame = pd.DataFrame([*rows, *[("R1", "S0", 0.0)] * 2], columns=["R", "S", "Turnover"])
    records, sheets = tables(frame, (("R", "S"),))
    policy = Policy.of({"contributors.zeros": zeros, "contributors.p": 0.0})
    made = mask(records, sheets, policy)
    assert made.verdict is PASS
    (sheet, values) = made.shown()[0]
    cells = dict(zip(sheet.labels(), values.ravel().tolist(), strict=True))
    assert np.isnan(cells["R1", "S0"]) == hidden
    assert judge_batch(records, sheets, policy).verdict is (FAIL if zeros else PASS)


def test_what_cannot_be_kept_from_a_contributor_is_named_and_the_rest_is_hidden():
    """950 and 50 are all of region A: who has 950 knows that the total is no less."""
    rows = [("A", "a", 950.0), ("A", "b", 50.0)]
    rows += [(r, s, 10.0 + i) for r in "BC" for i, s in enumerate("ababcdcd")]
    records, sheets = tables(pd.DataFrame(rows, columns=["R", "S", "Turnover"]), (("R", "S"),))
    made = mask(records, sheets)
    assert made.verdict is REVIEW
    against = [r for r in made.judged.reasons if r.verdict is REVIEW]
    assert "A of table" in against[0].text
    assert all("contributors.alone = false" in reason.text for reason in against)
    assert np.isnan(made.shown()[0][1][1, :3]).all()
    assert mask(records, sheets, Policy.of({"contributors.alone": False})).verdict is PASS


def test_a_rounded_release_says_intervals(tmp_path):
    """Its multiples were taken for the truth, so that every primary cell of it blocked a batch."""
    frame = firms(7, 80)
    records, sheets = tables(frame, (("Region", "Sector"), ("District",)))
    policy = Policy.of({"contributors.alone": False})
    made = mask(records, sheets[:1], policy, method="round", base=200, seed=1)
    made.write(tmp_path / "out", force=True)
    earlier = read_released(tmp_path / "out", records.variables)
    (table,) = read_manifest(tmp_path / "out")["tables"]
    sheet = dataclasses.replace(earlier.sheets[0], status=Status.OUT, name="out")
    told = out_of(earlier.values[0], table)
    assert (told.high - told.low > 0).all()
    with pytest.raises(InconsistentRelease, match="is not what these data would give"):
        judge_batch(records, [sheets[1], sheet], policy, out={"out": earlier.values[0]})
    rounded = judge_batch(records, [sheets[1], sheet], policy, out={"out": told})
    assert rounded.together.verdict is rounded.each[0].verdict
    other = dataclasses.replace(told, low=told.low + 1e6, high=told.high + 1e6)
    with pytest.raises(InconsistentRelease, match="name the data that it was made of"):
        judge_batch(records, [sheets[1], sheet], policy, out={"out": other})


def test_rounded_cells_that_follow_are_said_with_what_follows():
    """7,445 to 7,445 was said where 7,401 to 7,599 follows."""
    for seed in range(9):
        records, sheets = tables(firms(seed), BATCHES[seed % 4])
        made = mask(records, sheets, method="round", base=10, seed=1)
        for reason in made.judged.reasons:
            if "to within" in reason.text:
                low, high = re.findall(r"to within ([\d,.]+) to ([\d,.]+)", reason.text)[0]
                apart = float(high.replace(",", "").rstrip(".")) - float(low.replace(",", ""))
                assert 9 <= apart <= 200
                return
    raise AssertionError("nothing follows")


def test_it_is_said_which_limit_is_in_the_way():
    records, sheets = tables(firms(1), (("Region", "Sector"), ("Size",)), (COUNT,))
    policy = Policy.of({"published.least": 0, "small.width": 0})
    whole = judge_batch(records, sheets, policy, effort=1e-5)
    texts = [r.text for r in whole.together.reasons if r.rule == "tables together"]
    assert texts
    assert "combinations, and 1 can be listed" in texts[0]


def test_a_filter_is_judged_as_it_is_printed():
    """Nobody prints who else is in R1; with the other regions shown one would be alone."""
    rows = [("R0", s) for s in "ab" for _ in range(20)] + [("R1", "a")] * 20 + [("R1", "b")]
    records, _ = tables(pd.DataFrame(rows, columns=["R", "S"]), (("R",), ("S",)), (COUNT,))
    r, s = records.variables
    one = Sheet("1", (Grouping.of(s),), where=(Grouping.only(r, ["R0"]),))
    policy = Policy.of({"attribute.check": False, "published.least": 0})
    assert judge_batch(records, [one], policy).verdict is PASS
    two = Sheet("2", (Grouping.of(s),))
    assert judge_batch(records, [one, two], policy).verdict is FAIL  # 21 - 20 in b


def few_firms():
    """Sixteen firms; only one is in D1, which with D2 makes up R1."""
    home = {"D0": ("R0", 60.0, 5), "D3": ("R0", 100.0, 5), "D1": ("R1", 50.0, 1)}
    home["D2"] = ("R1", 100.0, 5)
    rows = [(r, d, f"Z{d}", t) for d, (r, t, n) in home.items() for _ in range(n)]
    return pd.DataFrame(rows, columns=["Region", "District", "Town", "Turnover"])


@pytest.mark.parametrize("measure", [TURNOVER, COUNT])
@pytest.mark.parametrize(
    ("inner", "stated"), [("District", {}), ("Town", {"Town": "District", "District": "Region"})]
)
def test_what_few_records_show_and_what_a_chain_states_is_known(measure, inner, stated):
    """District and Region are in tables; what lies between Town and Region is in none."""
    frame = few_firms()
    book = {name: {"within": outer} for name, outer in stated.items()}
    people = Microdata.read(frame, records=True, codebook=Codebook.of(book) if book else None)
    records = Records.read(people, variables=["Region", inner], measures=[measure])
    sheets = [Sheet(v.name, (Grouping.of(v),), measure) for v in records.variables]
    policy = Policy.of({"attribute.check": False, "small.most": 1, "published.least": 2})
    made = mask(records, sheets, policy)
    values = made.shown()[1][1]
    assert made.verdict is PASS
    assert np.isnan(values[[2, 3]]).all() or np.isnan(made.shown()[0][1]).any()  # D1 and D2, or R1


def test_a_second_look_sees_what_measures_tell_of_each_other(tmp_path):
    records, sheets = tables(amounts(), (("R", "S"),), (TURNOVER, Measure("Tax")))
    policy = Policy.of({"contributors.alone": False})
    mask(records, sheets, policy).write(tmp_path / "out", force=True)
    found = check(tmp_path / "out", records.variables, values_from(records), records=records)
    assert found.verdict is REVIEW
    assert "Tax" in found.findings[0].text
    spoken = dataclasses.replace(records, independent=(frozenset({"Tax", "Turnover"}),))
    found = check(tmp_path / "out", records.variables, values_from(records), records=spoken)
    assert found.verdict is PASS


def test_a_zero_that_may_be_public_does_not_refuse_a_batch():
    """All in Ash are ill: where everybody knows that, its empty cell needs no protection."""
    rows = [("Ash", "ill")] * 83 + [("Birch", "ill")] * 80 + [("Birch", "not")] * 164
    records, sheets = tables(
        pd.DataFrame(rows, columns=["Town", "Ill"]), (("Town", "Ill"),), (COUNT,)
    )
    assert judge_batch(records, sheets).verdict is FAIL
    made = mask(records, sheets)
    assert np.isnan(made.shown()[0][1][1, 1:]).all()


def test_a_sum_beside_counts_that_are_out_with_gaps():
    """Three times the age and 7, by town: with the counts that are shown it tells the others."""
    ages = [20] * 40 + [30] * 30 + [40] * 2 + [20] * 40 + [30] * 30 + [40] * 10
    frame = pd.DataFrame({"Town": ["a"] * 72 + ["b"] * 80, "Age": [str(age) for age in ages]})
    frame["Amount"] = [3.0 * int(age) + 7 for age in frame.Age]
    people, amount = Microdata.read(frame, records=True), Measure("Amount")
    records = Records.read(people, variables=["Town", "Age"], measures=[amount])
    town, age = (Grouping.of(records.variable(name)) for name in ("Town", "Age"))
    counts = Sheet("may", (town, age), status=Status.OUT)
    gap = np.nan
    values = np.array([[152.0, 80, 60, 12], [72, 40, gap, gap], [80, 40, gap, gap]])
    june = Sheet("june", (town,), amount)
    policy = Policy.of({"attribute.check": False})
    for judge in (judge_batch, mask):
        found = judge(records, [counts, june], policy, out={"may": values})
        found = found.judged if judge is mask else found.together
        assert found.verdict is REVIEW
        assert "measures together" in [reason.rule for reason in found.reasons]


def test_sums_show_who_has_a_sensitive_category():
    """Where nobody is, a sum of 0 is printed: all in town a are ill."""
    rows = [("a", "yes"), ("b", "yes"), ("b", "no")]
    frame = pd.DataFrame([row for row in rows for _ in range(30)], columns=["Town", "Ill"])
    frame["Days"] = 1.0 + np.arange(90) % 7
    book = {"Town": {"role": "identifying"}, "Ill": {"role": "sensitive"}}
    people = Microdata.read(frame, records=True, codebook=Codebook.of(book))
    days = Measure("Days")
    records = Records.read(people, variables=["Town", "Ill"], measures=[days])
    lines = [Grouping.of(records.variable(name)) for name in ("Town", "Ill")]
    sheets = [Sheet("1", tuple(lines), days)]
    assert judge_batch(records, sheets).together.verdict is REVIEW
    assert mask(records, sheets).verdict is REVIEW
    assert mask(records, sheets, method="round", base=50).verdict is PASS
    town, ill = lines
    only = Grouping.only(records.variable("Ill"), ["yes"])
    apart = [Sheet("1", (town,), days), Sheet("2", (town,), days, where=(only,))]
    assert judge_batch(records, apart).together.verdict is REVIEW
    apart = [apart[0], Sheet("2", (town, ill.keep(["yes"])), days)]
    assert judge_batch(records, apart).together.verdict is REVIEW
    only = Grouping.only(records.variable("Ill"), ["no"])
    alone = Sheet("2", (town,), days, where=(only,))
    for policy in [Policy(), Policy.of({"attribute.exclusion": False})]:
        assert judge_batch(records, [alone], policy).together.verdict is REVIEW
        assert judge_batch(records, [apart[0], alone], policy).together.verdict is REVIEW
    unasked = Policy.of({"attribute.check": False})
    assert judge_batch(records, sheets, unasked).together.verdict is PASS


def test_sums_of_several_tables_rule_out_all_but_a_sensitive_category():
    """Nobody in town a has a cold or a fever, in two tables: all there have the third."""
    rows = [("a", "ill"), ("b", "ill"), ("b", "cold"), ("b", "fever")]
    frame = pd.DataFrame([row for row in rows for _ in range(30)], columns=["Town", "Ill"])
    frame["Days"] = 1.0 + np.arange(120) % 7
    book = {"Town": {"role": "identifying"}, "Ill": {"role": "sensitive", "sensitive": ["ill"]}}
    people = Microdata.read(frame, records=True, codebook=Codebook.of(book))
    days = Measure("Days")
    records = Records.read(people, variables=["Town", "Ill"], measures=[days])
    town = Grouping.of(records.variable("Town"))

    def kept(*names):
        return Sheet(
            "+".join(names), (town,), days, where=(Grouping.only(records.variable("Ill"), names),)
        )

    cold, fever, others = kept("cold"), kept("fever"), kept("ill", "cold")
    assert judge_batch(records, [cold]).together.verdict is PASS
    assert judge_batch(records, [cold, fever]).together.verdict is REVIEW
    everybody = Sheet("all", (town,), days)
    assert judge_batch(records, [everybody, others]).together.verdict is PASS
    assert judge_batch(records, [everybody, others, cold]).together.verdict is REVIEW


def days_of_the_ill(where, *, north="yes", others="SW", total=True, **book):
    """Days by Ill of some regions, in a table each; in N are 30 people, all of them ill or not."""
    rows = [("N", north)] * 30 + [(r, ill) for r in others for ill in ("yes", "no")] * 15
    frame = pd.DataFrame(rows, columns=["R", "Ill"])
    frame["Days"] = 10.0 + np.arange(len(rows)) % 7
    roles = {"R": {"role": "identifying"}, "Ill": {"role": "sensitive", "sensitive": ["yes"]}}
    people = Microdata.read(frame, records=True, codebook=Codebook.of(roles | book))
    days = Measure("Days")
    records = Records.read(people, variables=["R", "Ill"], measures=[days])
    region, ill = (records.variable(name) for name in ("R", "Ill"))
    sheets = [
        Sheet(own, (Grouping.of(ill, total=total),), days, where=(Grouping.only(region, [*own]),))
        for own in where
    ]
    return records, sheets, region, ill


@pytest.mark.parametrize("where", [("NS", "S"), ("NSW", "SW"), ("NS", "NW", "SW"), ("N",)])
@pytest.mark.parametrize("north", ["yes", "no"])
def test_differences_of_sums_tell_that_nobody_of_a_group_has_another_category(where, north):
    """The sum of those who are not ill is the same with N as without: all of N are ill."""
    records, sheets, *_ = days_of_the_ill(where, north=north)
    for found in (judge_batch(records, sheets).together, mask(records, sheets).judged):
        assert found.verdict is REVIEW
        assert "N" in found.reasons[-1].cells[0]["cell"]["R"]
    assert all(one.verdict is PASS for one in judge_batch(records, sheets).each[: len(where) - 1])
    wide = mask(records, sheets, method="round", base=400)
    assert wide.verdict is PASS
    narrow = mask(records, sheets, method="round", base=2)
    assert narrow.verdict is REVIEW  # nobody has so few days as the sums leave to N


def test_what_is_too_large_to_settle_is_no_pass(monkeypatch):
    records, sheets, *_ = days_of_the_ill(("NSU", "SV", "UW", "VW"), others="SUVW")
    assert "show it (" in judge_batch(records, sheets).together.reasons[-1].text
    monkeypatch.setattr("discreet.intruder.sums.zeros.MOST", 0)
    found = judge_batch(records, sheets).together
    assert found.verdict is REVIEW
    assert "may show it, which was not settled" in found.reasons[-1].text


def test_groups_that_keep_every_category_pass_beside_those_that_could_tell():
    records, sheets, *_ = days_of_the_ill(("NS", "W"))
    assert judge_batch(records, sheets).together.verdict is PASS
    records, sheets, *_ = days_of_the_ill(("NS", "SW"))
    assert judge_batch(records, sheets).together.verdict is PASS


def test_a_sum_of_all_beside_sums_of_other_groups_tells_the_group_that_is_left_out():
    records, sheets, region, ill = days_of_the_ill(("NSW",))
    days, only = sheets[0].measure, Grouping.only(ill, ["no"])
    others = Sheet("2", (Grouping.of(region).keep(["S", "W"]),), days, where=(only,))
    assert judge_batch(records, [sheets[0], others]).together.verdict is REVIEW
    one = Sheet("2", (Grouping.of(region).keep(["S"]),), days, where=(only,))
    assert judge_batch(records, [sheets[0], one]).together.verdict is PASS


def test_sums_of_several_measures_rule_out_all_but_a_sensitive_category_together():
    """In town a nobody has a cold, by the days, nor a fever, by the costs."""
    rows = [("a", "ill"), ("b", "ill"), ("b", "cold"), ("b", "fever")] * 30
    frame = pd.DataFrame(rows, columns=["Town", "Ill"])
    rng = np.random.default_rng(1)
    frame["Days"], frame["Cost"] = rng.integers(5, 50, 120), rng.integers(100, 900, 120)
    book = {"Town": {"role": "identifying"}, "Ill": {"role": "sensitive", "sensitive": ["ill"]}}
    people = Microdata.read(frame, records=True, codebook=Codebook.of(book))
    days, cost = Measure("Days"), Measure("Cost")
    records = Records.read(people, variables=["Town", "Ill"], measures=[days, cost])
    town = Grouping.of(records.variable("Town"))

    def kept(name, measure):
        only = Grouping.only(records.variable("Ill"), [name])
        return Sheet(f"{name} {measure}", (town,), measure, where=(only,))

    cold, fever = kept("cold", days), kept("fever", cost)
    batch = judge_batch(records, [cold, fever])
    assert [one.verdict for one in batch.each] == [PASS, PASS]
    assert batch.together.verdict is REVIEW
    assert mask(records, [cold, fever]).verdict is REVIEW
    out = dataclasses.replace(cold, status=Status.OUT)
    assert mask(records, [out, fever]).verdict is REVIEW
    assert mask(records, [cold, kept("cold", cost)]).verdict is PASS
