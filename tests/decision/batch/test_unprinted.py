"""What no table prints and somebody can work out: beside filters, below tables, in hidden lines."""

import dataclasses
from itertools import product

import numpy as np
import pandas as pd
import pytest

from discreet.data.codebook import Codebook
from discreet.decision.batch.judge import judge_batch
from discreet.decision.batch.masking import mask
from discreet.decision.batch.measures import ties
from discreet.decision.batch.unions import _left
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.errors import DataError, DisclosureError, InconsistentRelease
from discreet.sheets.grouping import Grouping
from discreet.sheets.records import Records
from discreet.sheets.sheet import COUNT, Measure, Sheet, Status
from discreet.table.microdata import Microdata

PASS, REVIEW, FAIL = Verdict.PASS, Verdict.REVIEW, Verdict.FAIL
V = Measure("V")
HIDDEN = Policy.of({"categories.hidden": "Sector=Z", "attribute.check": False})


def read(frame, measures=(V,), book=None, **how):
    people = Microdata.read(frame, records=True, codebook=Codebook.of(book) if book else None)
    aside = {name for one in measures for name in one.columns}
    names = [name for name in frame.columns if name not in aside]
    return Records.read(people, variables=names, measures=measures, **how)


def sheet(records, *names, measure=V, where=None, left=(), **more):
    """A table with totals; of `where` one category, without the lines `left` out."""
    lines = [Grouping.of(records.variable(name)) for name in names]
    shown = [g.keep([label for label in g.labels if label not in left]) for g in lines]
    only = [Grouping.only(records.variable(n), [c]) for n, c in (where or {}).items()]
    name = f"{'*'.join(names)} {where or ''} {measure}"
    return Sheet(name, tuple(shown), measure, where=tuple(only), **more)


def even(times=6, **domains):
    """So many people of each combination, with a value that differs."""
    rows = [row for row in product(*domains.values()) for _ in range(times)]
    values = 60.0 + np.arange(len(rows)) % 81
    return pd.DataFrame(rows, columns=[*domains]).assign(V=values)


def alone(frame, here, **values):
    """Only the first record that is here stays, with other values."""
    frame = frame[~here | ~here.duplicated()].copy()
    for name, value in values.items():
        frame.loc[here[here].index[0], name] = value
    return frame.reset_index(drop=True)


@pytest.mark.parametrize("measure", [V, COUNT])
def test_a_cell_outside_of_a_filter_is_guarded_though_a_third_table_splits_it(measure):
    frame = even(Sector="AC", Region="NSW", Legal=["q1", "q2"])
    for legal in ("q1", "q2"):
        frame = alone(frame, frame.Sector + frame.Region + frame.Legal == f"CN{legal}")
    records = read(frame, [measure])
    a = {"Sector": "A"}
    sheets = [
        sheet(records, "Region", "Legal", measure=measure),
        sheet(records, "Region", measure=measure, where=a),
        sheet(records, "Legal", measure=measure, where=a),
    ]
    policy = Policy.of({"small.most": 4, "published.least": 5})
    for some in (sheets[:2], sheets):
        found = judge_batch(records, some, policy).together
        assert found.verdict is FAIL
        assert "which no table prints" in found.reasons[0].text
    made = mask(records, sheets, policy)
    assert made.hidden
    assert made.verdict is not FAIL


def test_who_is_alone_below_the_tables_is_an_intruder():
    """One degree of freedom is left: 300 tells 290."""
    frame = even(Sector="AB", Region="NS", Legal=["q1", "q2"])
    for where, value in (("ANq1", 300.0), ("BSq1", 290.0)):
        frame = alone(frame, frame.Sector + frame.Region + frame.Legal == where, V=value)
    records = read(frame)
    pairs = (("Sector", "Region"), ("Sector", "Legal"), ("Region", "Legal"))
    sheets = [sheet(records, *pair) for pair in pairs]
    assert judge_batch(records, sheets).together.verdict is FAIL
    assert mask(records, sheets).hidden
    assert judge_batch(records, sheets, Policy.of({"contributors.alone": False})).verdict is PASS


def test_one_owner_of_several_hidden_cells_of_a_row_is_told_their_sum():
    frame = even(Sector=["cars", "tools", "food"], Region="NSEW")
    frame["Owner"] = [f"o{i}" for i in range(len(frame))]
    for region, value in (("N", 500.0), ("S", 480.0)):
        frame = alone(frame, frame.Sector + frame.Region == f"cars{region}", V=value, Owner="H1")
    owned = Measure("V", holding="Owner")
    records = read(frame, [owned])
    made = mask(records, [sheet(records, "Sector", "Region", measure=owned)])
    assert made.verdict is FAIL
    assert "N + S, which no table prints, follows" in made.judged.reasons[0].text
    apart = read(frame.assign(Owner=[f"o{i}" for i in range(len(frame))]), [owned])
    again = mask(apart, [sheet(apart, "Sector", "Region", measure=owned)])
    assert again.verdict is PASS


@pytest.mark.parametrize("totals", ["other table", "filter"])
def test_one_owner_of_what_lines_of_several_tables_leave(totals):
    """The sum of all of a sector, less the regions that are shown, is what H1 has in two."""
    frame = even(Sector=["cars", "tools", "food"], Region="NSEW")
    frame["Owner"] = [f"o{i}" for i in range(len(frame))]
    for region, value in (("N", 500.0), ("S", 480.0)):
        frame = alone(frame, frame.Sector + frame.Region == f"cars{region}", V=value, Owner="H1")
    owned = Measure("V", holding="Owner")
    for owners, verdict in ((frame.Owner, FAIL), ([f"o{i}" for i in range(len(frame))], PASS)):
        records = read(frame.assign(Owner=owners), [owned])
        sheets = [sheet(records, "Sector", "Region", measure=owned, left=["Total"])]
        sheets += [sheet(records, "Sector", measure=owned), sheet(records, "Region", measure=owned)]
        if totals == "filter":
            sheets = [sheet(records, "Region", measure=owned, where={"Sector": s}, left=["Total"])
                      for s in ("cars", "tools", "food")] + sheets[1:]  # fmt: skip
        assert mask(records, sheets).verdict is verdict


@pytest.mark.parametrize(("owner", "passes"), [("one", False), ("", True)])
def test_one_owner_of_several_rounded_cells_of_a_row(owner, passes):
    """Of 1,649 at most 950 or more are in E: N and S have 699 at most, 2% more than their 685."""
    rows = [("E", 192.0, "")] * 5 + [("N", 393.0, owner), ("S", 288.0, owner)]
    rows += [(region, 1.0, "") for region in "NNSS"]
    frame = pd.DataFrame(rows, columns=["Region", "V", "Owner"])
    owned = Measure("V", holding="Owner")
    records = read(frame, [owned])
    policy = Policy.of({"contributors.alone": False})
    how = {"method": "round", "base": 100, "kind": "conventional"}
    made = mask(records, [sheet(records, "Region", measure=owned)], policy, **how)
    assert (made.verdict is PASS) == passes


def test_each_of_own_groups_that_overlap_leaves_something():
    """Of N, S, E, W the groups N + W and W + E are shown: without the latter N + S are left."""
    lines = {frozenset(some): False for some in ({0, 1, 2, 3}, {0, 3}, {3, 2})}
    lines |= {frozenset([code]): True for code in range(4)}
    assert {*_left(lines)} == {frozenset({1, 2}), frozenset({0, 1})}


def test_a_sheets_own_least_is_for_zeros_too():
    frame = even(5, Sector="AB", Region="NS")
    frame.loc[(frame.Sector == "A") & (frame.Region == "N"), "V"] = 0.0
    records = read(frame)
    for least, verdict in ((10, FAIL), (0, PASS)):
        one = sheet(records, "Sector", "Region", options={"least": least})
        found = judge_batch(records, [one]).together
        assert any(r.rule == "zeros" for r in found.reasons) == (verdict is FAIL)


@pytest.mark.parametrize("method", ["round", "perturb", "cell-key"])
def test_no_mask_prints_a_line_of_a_hidden_category(method):
    records = read(even(30, Sector="ABCZ", Region="NSE"), [COUNT])
    sheets = [sheet(records, "Sector", "Region", measure=COUNT)]
    if method == "perturb":
        sheets.append(sheet(records, "Region", measure=COUNT, status=Status.OUT))
    made = mask(records, sheets, HIDDEN, method=method)
    assert made.verdict is FAIL
    assert "is printed" in made.judged.reasons[0].text


@pytest.mark.parametrize("measure", [V, COUNT, Measure(weight="W"), Measure("V", weight="W")])
def test_a_hidden_category_that_follows_from_lines_left_out(measure):
    frame = even(30, Sector="ABCZ", Region="NSE").assign(W=3.5)
    records = read(frame, [measure])
    one = sheet(records, "Sector", "Region", measure=measure, left=["Z"])
    assert judge_batch(records, [one], HIDDEN).verdict is FAIL
    made = mask(records, [one], HIDDEN)
    assert made.hidden
    assert made.verdict is not FAIL


@pytest.mark.parametrize("book", [None, {"Town": {"within": "Region"}}])
@pytest.mark.parametrize("measure", [V, COUNT])
def test_a_coarser_line_of_hidden_people_alone(book, measure):
    frame = even(20, Town="ABZ", Sex="fm")
    frame["Region"] = np.where(frame.Town == "Z", "R2", "R1")
    records = read(frame, [measure], book)
    policy = Policy.of({"categories.hidden": "Town=Z", "attribute.check": False})
    found = judge_batch(records, [sheet(records, "Region", measure=measure)], policy)
    assert found.verdict is FAIL
    few = dataclasses.replace(records, unread=frozenset({"Town"}))
    assert judge_batch(few, [sheet(few, "Sex", measure=measure)], policy).verdict is REVIEW


@pytest.mark.parametrize("size", [1e9, 1e10, 1e13])
def test_sums_of_large_numbers_do_not_prove_that_a_small_one_is_open(size):
    rows = [(s, r, size + i) for s in "ABC" for r in "NS" for i in range(5)]
    rows += [("D", "N", 50.0), ("D", "N", 40.0), *(("D", "S", 60.0 + 10 * i) for i in range(4))]
    records = read(pd.DataFrame(rows, columns=["Sector", "Region", "V"]))
    found = judge_batch(records, [sheet(records, "Sector", "Region", left=["D"])])
    assert found.verdict is (FAIL if size < 1e10 else REVIEW)


def test_what_is_no_amount_is_refused():
    frame = even(Sector="AB")
    frame.loc[:1, "V"] = 1e308
    with pytest.raises(DataError, match="no amount"):
        read(frame)


def test_what_is_out_must_be_of_these_data():
    frame = even(Sector="AB", Region="NS")
    records = read(frame)
    wanted, out = sheet(records, "Sector"), sheet(records, "Region", status=Status.OUT)
    region = frame.groupby("Region").V.sum()
    values = np.array([frame.V.sum(), region["N"], region["S"]])
    assert judge_batch(records, [wanted, out], out={out.name: values}).verdict is PASS
    values[1] += 1
    for judge in (judge_batch, mask):
        with pytest.raises(InconsistentRelease, match=r"N of table Region .* is out, and is not"):
            judge(records, [wanted, out], out={out.name: values})


def test_a_gap_of_an_earlier_release_stays_one_or_more_behind_a_second_mask():
    cells = {"AN": 6, "AS": 4, "BN": 3, "BS": 2, "CN": 2, "CS": 1}
    rows = [tuple(at) for at, many in cells.items() for _ in range(many)]
    records = read(pd.DataFrame(rows, columns=["P", "Q"]), [COUNT])
    wanted = sheet(records, "P", "Q", measure=COUNT)
    out = dataclasses.replace(wanted, name="out", status=Status.OUT)
    x = np.nan
    printed = np.array([[18, 11, 7], [x, 6, x], [5, x, x], [x, x, x]])
    policy = Policy.of({"attribute.check": False})
    for seed in range(8):
        made = mask(records, [wanted, out], policy, method="round", out={"out": printed},
                    base=5, kind="controlled", seed=seed)  # fmt: skip
        (_, values), known = made.shown()[0], made.masked[0].printed
        low, high = np.maximum(0, values - 4), values + 4
        low, high = (
            np.where(np.isnan(printed), np.maximum(low, 1), printed),
            np.where(np.isnan(printed), high, printed),
        )
        fits = [
            (b, c)
            for b in range(1, 5)
            for c in range(1, 8)
            for a in range(1, 12)
            if (full := np.array([[6, a], [5 - b, b], [5 - c, c]])).min() > 0
            and full[:, 1].sum() == 7 and full[:, 0].sum() == 11
            and (low[1:, 1:] <= full).all() and (full <= high[1:, 1:]).all()
        ]  # fmt: skip
        widths = np.ptp(np.array(fits), axis=0)
        assert known is not None
        if (widths < policy.small.width).any():
            assert made.verdict is not PASS


def test_equations_of_any_number_of_measures():
    rng = np.random.default_rng(1)
    frame = even(20, Sector="ABCD", Region="NS")
    parts = ["Qa", "Qb", "Qc", "Qd", "Qe"]
    frame[parts] = rng.lognormal(4, 1, (len(frame), 5)).round(2)
    frame["All"] = frame[parts].sum(axis=1).round(2)
    frame["Net"], frame["Alone"] = frame.V, rng.lognormal(4, 1, len(frame)).round(2)
    frame["Gross"] = (1.2 * frame.V).round(2)
    frame.loc[3, ["All", "Gross"]] += 5  # one exception
    frame["Own"] = np.where(frame.Sector == "A", frame.Qa + frame.Alone, 7 * frame.Qb**0.5)

    def found(*names, **how):
        measures = [Measure(name) for name in names]
        records = read(frame[["Sector", "Region", *names]], measures)
        tables = [sheet(records, "Region", measure=one, **how) for one in measures]
        return [{str(one.value) for one in tie.measures} for tie in ties(records, tables)]

    assert found(*parts, "All", "Alone") == [{*parts, "All"}]
    assert found(*parts, "Alone") == []
    assert found("Net", "Gross") == [{"Net", "Gross"}]
    assert found("Own", "Qa", "Alone") == []
    assert found("Own", "Qa", "Alone", where={"Sector": "A"}) == [{"Own", "Qa", "Alone"}]
    few = frame[:5]
    frame = few
    assert found(*parts, "Alone") == [{*parts, "Alone"}]  # too few records to see


def test_a_drawn_table_keeps_no_zero_that_was_only_found():
    """All of Ash are ill; who reads that in the drawn table has it from the data."""
    rows = [("Ash", "yes")] * 83 + [("Birch", "yes")] * 80 + [("Birch", "no")] * 164
    frame = pd.DataFrame(rows, columns=["Town", "Ill"])

    def drawn(**how):
        records = read(frame, [COUNT], **how)
        out = [sheet(records, n, measure=COUNT, status=Status.OUT) for n in ("Town", "Ill")]
        made = mask(records, [sheet(records, "Town", "Ill", measure=COUNT), *out], method="perturb")
        ((own, values),) = made.shown()
        return dict(zip(own.labels(), values.ravel().tolist(), strict=True))["Ash", "no"]

    assert drawn() > 0
    assert drawn(impossible=[{"Town": "Ash", "Ill": "no"}]) == 0


def test_weighted_counts_are_judged_by_the_people_behind_them():
    """Each person stands for 50: a printed 100 is a count of two."""
    frame = even(20, Town="AB", Ill=["yes", "no"]).assign(W=50.0)
    few = (frame.Town == "A") & (frame.Ill == "yes")
    frame = frame[~few | (few.cumsum() <= 2)]
    weighted = Measure(weight="W")
    records = read(frame, [weighted])
    one = sheet(records, "Town", "Ill", measure=weighted)
    found = judge_batch(records, [one])
    assert found.verdict is FAIL
    assert mask(records, [one]).hidden
    none = read(frame.assign(W=frame.W.where(~few, 0.0)), [weighted])  # they are in no cell
    attribute = Policy.of({"attribute.check": False})
    assert judge_batch(none, [sheet(none, "Town", "Ill", measure=weighted)], attribute).verdict is (
        PASS
    )


def test_a_least_of_one_margin_is_for_its_cells_in_every_table():
    records = read(even(12, Town="AB", Sex="fm"), [COUNT])
    for text, verdict in (("Town*Sex: 20", FAIL), ("Town: 20", PASS), ("Town: 40", FAIL)):
        policy = Policy.of({"published.tables": text, "attribute.check": False})
        found = judge_batch(records, [sheet(records, "Sex", "Town", measure=COUNT)], policy)
        assert found.verdict is verdict
    only = sheet(records, "Sex", measure=COUNT, where={"Town": "A"})
    policy = Policy.of({"published.tables": "Town*Sex: 20", "attribute.check": False})
    assert judge_batch(records, [only], policy).verdict is FAIL


def test_pairs_that_are_stated_in_part_are_still_looked_at():
    """Of two empty pairs one is stated; the other one tells as much as before."""
    frame = even(20, Age50=["<50", "50+"], Age51=["<51", "51+"], Region="NS")
    frame = frame[(frame.Age50 == "50+") | (frame.Age51 == "<51")]
    odd = (frame.Age50 == "50+") & (frame.Age51 == "<51")
    frame = frame[~odd | (odd & ~frame.duplicated(["Age50", "Age51", "Region"]))]
    records = read(frame, [COUNT], impossible=[{"Age50": "<50", "Age51": "51+"}])
    pairs = [sheet(records, "Age50", "Region", measure=COUNT),
             sheet(records, "Age51", "Region", measure=COUNT)]  # fmt: skip
    assert judge_batch(records, pairs).verdict is FAIL
    assert judge_batch(read(frame, [COUNT]), pairs).verdict is not PASS


def test_a_category_that_is_called_like_a_class_of_others():
    frame = even(20, Town=["A", "B", "A or B"], Sex="fm")
    records = read(frame, [COUNT])
    town = records.variable("Town")
    cut = Grouping.cut(town, {"some": ["A", "B"], "rest": ["A or B"]})
    one = Sheet("1", (cut, Grouping.of(records.variable("Sex"))))
    assert judge_batch(records, [one], Policy.of({"attribute.check": False})).verdict is PASS


def test_merged_tables_guard_who_is_in_the_original_cells():
    """North is 1 in Ash and 3 in Birch: 4 tells that Ash has 0 to 4."""
    frame = pd.DataFrame({"Town": [*"A" * 1, *"B" * 3, *"C" * 20, *"D" * 30]})
    groups = {"A": "North", "B": "North", "C": "South", "D": "South"}
    records = read(frame, [COUNT], {"Town": {"hierarchy": groups, "role": "identifying"}})
    for width, cells in ((3, 3), (5, 1)):
        policy = Policy.of({"small.width": width})
        made = mask(records, [sheet(records, "Town", measure=COUNT)], policy, method="merge")
        assert (made.verdict, made.shown()[0][1].size) == (PASS, cells)


def test_sums_below_two_tables_that_no_third_joins():
    """Region and legal form share a size: 2 owners of 3,013 have between 0 and 3,015 there."""
    rows = [("N", "q", "1", 2000.0), ("N", "q", "1", 1013.0)]
    rows += [("N", "p", "1", 1.0), ("N", "p", "1", 1.0)]
    rows += [("S", legal, "1", 200.0 + i) for legal in "pq" for i in range(8)]
    rows += [(a, b, "2", 300.0 + i) for a in "NS" for b in "pq" for i in range(8)]
    frame = pd.DataFrame(rows, columns=["Region", "Legal", "Size", "V"])
    records = read(frame)
    policy = Policy.of({"attribute.check": False, "contributors.p": 0.0, "contributors.range": 1.0})
    sheets = [sheet(records, "Region", "Size"), sheet(records, "Legal", "Size")]
    assert judge_batch(records, sheets[:1], policy).together.verdict is PASS
    assert judge_batch(records, sheets[1:], policy).together.verdict is PASS
    assert judge_batch(records, sheets, policy).together.verdict is FAIL
    assert mask(records, sheets, policy).hidden > 0


@pytest.mark.parametrize("holding", [None, "Owner"])
def test_merged_sums_guard_who_is_in_the_original_cells(holding):
    """North is two firms with 2,000 in Ash and four with 169 in Birch: Ash has 2,169 at most."""
    values = {"A": [1000.0] * 2, "B": [40.0, 45.0, 41.0, 43.0], "C": [300.0] * 5, "D": [500.0] * 6}
    frame = pd.DataFrame([(town, v) for town, own in values.items() for v in own])
    frame = frame.set_axis(["Town", "V"], axis=1).assign(Owner=range(17))
    groups = {"A": "North", "B": "North", "C": "South", "D": "South"}
    measure = Measure("V", holding=holding)
    records = read(frame, [measure], {"Town": {"hierarchy": groups, "role": "identifying"}})
    for reach, cells in ((8.0, 3), (10.0, 1)):
        policy = Policy.of({"contributors.p": 0, "contributors.range": reach})
        made = mask(records, [sheet(records, "Town", measure=measure)], policy, method="merge")
        assert (made.verdict, made.shown()[0][1].size) == (PASS, cells)


@pytest.mark.parametrize("weight", [1.0, 50.0])
def test_a_gap_in_a_weighted_table_is_a_person_at_least(weight):
    """Hidden 2, 3 / 2, 4 with all sums known: 0 is printed where it is, so 2 is from 1 to 3."""
    counts = [[3, 14, 0], [14, 2, 3], [9, 2, 4]]
    cells = [("abc"[i], "xyz"[j]) for i in range(3) for j in range(3) for _ in range(counts[i][j])]
    frame = pd.DataFrame(cells, columns=["Town", "Size"]).assign(W=weight)
    weighted = Measure(weight="W")
    records = read(frame, [weighted], {name: {"role": "identifying"} for name in ("Town", "Size")})
    one = sheet(records, "Town", "Size", measure=weighted)
    made = mask(records, [one])
    ((_, shown),) = made.shown()
    assert made.verdict is PASS
    assert np.isnan(shown).sum() > 4


@pytest.mark.parametrize(("base", "passes"), [(0.01, False), (5, False), (400, True)])
@pytest.mark.parametrize("kind", ["controlled", "conventional", "random"])
def test_rounded_weighted_counts_tell_of_groups_below_several_tables(base, passes, kind):
    """All 6 of 60 in N are ill: each stands for 50, and the tables differ by these."""
    sizes = {("59", "N"): (80, 60), ("59", "S"): (80, 60), ("61", "N"): (70, 50),
             ("61", "S"): (70, 50), ("60", "N"): (0, 6), ("60", "S"): (12, 9)}  # fmt: skip
    rows = [(*key, ill) for key, (no, yes) in sizes.items() for ill in ["no"] * no + ["yes"] * yes]
    frame = pd.DataFrame(rows, columns=["Age", "Region", "Ill"])
    frame["W"] = 48.0 + np.arange(len(frame)) % 5
    weighted = Measure(weight="W")
    known = {name: {"role": "identifying"} for name in ("Age", "Region")}
    records = read(frame, [weighted], known | {"Ill": {"role": "sensitive"}})
    age = records.variable("Age")
    cuts = [{"under": ["59"], "over": ["60", "61"]}, {"under": ["59", "60"], "over": ["61"]}]
    others = [Grouping.of(records.variable(name)) for name in ("Region", "Ill")]
    sheets = [Sheet(str(i), (Grouping.cut(age, cut), *others), weighted)
              for i, cut in enumerate(cuts)]  # fmt: skip
    made = mask(records, sheets, method="round", base=base, kind=kind)
    assert (made.verdict is PASS) == passes


def test_who_alone_has_the_value_is_an_intruder_though_others_have_the_shadow():
    """N has one who exports 500, S another with 480: each knows the other's from the row's sum."""
    frame = even(Sector=["cars", "tools", "food"], Region="NSE").assign(Staff=5.0)
    for region, value in (("N", 500.0), ("S", 480.0)):
        here = frame.Sector + frame.Region == f"cars{region}"
        frame.loc[here, "V"] = [value] + [0.0] * 5
    shadowed = Measure("V", shadow="Staff")
    records = read(frame, [V, shadowed])
    for measure in (V, shadowed):
        made = mask(records, [sheet(records, "Sector", "Region", measure=measure)])
        assert (made.verdict, made.hidden) == (PASS, 6)  # 4 would do if nobody was alone


@pytest.mark.parametrize("shadow", [None, "Staff"])
def test_a_hidden_sum_of_0_does_not_follow(shadow):
    measure = Measure("V", shadow=shadow)
    frame = even(Sector="ABC", Region="NSE").assign(Staff=0.01)
    frame.loc[(frame.Sector == "A") & (frame.Region == "N"), "V"] = 0.0
    records = read(frame, [measure])
    made = mask(records, [sheet(records, "Sector", "Region", measure=measure)],
                Policy.of({"published.zeros": True}))  # fmt: skip
    assert made.verdict is PASS
    assert made.hidden == 4
    (looked,) = made.looks
    (cell,) = looked.targets
    assert looked.ends(int(cell))[1] > 1


@pytest.mark.parametrize("measure", [V, COUNT])
def test_a_zero_where_nobody_can_be_is_printed(measure):
    frame = even(Region="NS", Town="ABCD")
    frame = frame[frame.Region.eq("N") == frame.Town.isin(["A", "B"])]
    records = read(frame, [measure], {"Town": {"within": "Region"}})
    one = sheet(records, "Region", "Town", measure=measure)
    policy = Policy.of({"published.zeros": True, "attribute.check": False})
    assert judge_batch(records, [one], policy).verdict is PASS
    assert mask(records, [one], policy).hidden == 0


@pytest.mark.parametrize("kind", ["controlled", "conventional", "random"])
@pytest.mark.parametrize(
    ("unit", "base", "passes"),
    [(1, 1.5, False), (0.1, 0.1, False), (0.1, 0.15, False), (50, 50, False), (1, 7, True),
     (0.1, 0.7, True), (0.013579, 0.1, True)],
)  # fmt: skip
def test_rounded_sums_are_multiples_of_what_all_amounts_are(unit, base, passes, kind):
    """4 and 3 employees, to multiples of 1.5: 7.5 is 7 or 8, and 6.3 to 7.7 must stay open."""
    frame = even(Sector="ABC", Region="NSE")
    frame["V"] = 5.0 + np.arange(len(frame)) % 23
    here = (frame.Sector == "A") & (frame.Region == "N")
    frame = frame[~here | (here.cumsum() <= 2)]
    frame.loc[here, "V"] = [4.0, 3.0]
    records = read(frame.assign(V=(frame.V * unit).round(6)))
    how = {"method": "round", "base": base, "kind": kind, "seed": 1}
    made = mask(records, [sheet(records, "Sector", "Region")], **how)
    assert (made.verdict is PASS) == passes


def test_how_well_values_are_known_is_read_in_whole_amounts():
    """Known to 10%, 7 employees are from 6.3 to 7.7: 7."""
    frame = even(Sector="ABC", Region="NSE")
    frame["V"] = 5.0 + np.arange(len(frame)) % 23
    here = (frame.Sector == "A") & (frame.Region == "N")
    frame = frame[~here | (here.cumsum() <= 2)]
    frame.loc[here, "V"] = [4.0, 3.0]
    records = read(frame)
    with pytest.raises(DisclosureError, match="cannot be made uncertain"):
        mask(records, [sheet(records, "Sector", "Region")], known=10)
    assert mask(records, [sheet(records, "Sector", "Region")], known=30).verdict is PASS


@pytest.mark.parametrize(("role", "verdict"), [("sensitive", FAIL), ("unstated", PASS)])
def test_a_sum_of_0_of_a_sensitive_value_tells_that_of_everybody(role, verdict):
    """Nobody of 40 in Ash is ill."""
    frame = even(20, Town=["Ash", "Birch", "Cedar"], Sex="fm")
    frame["V"] = (np.arange(len(frame)) % 3 == 0).astype(float)
    frame.loc[frame.Town == "Ash", "V"] = 0.0
    people = Microdata.read(frame, records=True, codebook=Codebook.of({"V": {"role": role}}))
    records = Records.read(people, variables=["Town", "Sex"], measures=[V])
    sheets = [sheet(records, "Town", "Sex")]
    assert judge_batch(records, sheets).verdict is verdict
    assert (mask(records, sheets).hidden > 0) == (verdict is FAIL)


@pytest.mark.parametrize(("weights", "verdict"), [((0.0, 1.0), REVIEW), ((20.0, 30.0), PASS)])
def test_counts_beside_counts_of_those_who_are_marked(weights, verdict):
    frame = even(20, Town=["Ash", "Birch"], Sex="fm")
    frame["W"] = np.where(np.arange(len(frame)) % 3 == 0, *weights)
    marked = Measure(weight="W")
    records = read(frame, [marked])
    sheets = [sheet(records, "Town", measure=marked), sheet(records, "Town", measure=COUNT)]
    policy = Policy.of({"attribute.check": False})
    assert judge_batch(records, sheets, policy).together.verdict is verdict


@pytest.mark.parametrize("kind", ["parts", "weights", "constant"])
@pytest.mark.parametrize(("cut", "verdict"), [("61", REVIEW), ("60", PASS)])
def test_tied_measures_that_cross_only_together(kind, cut, verdict):
    """One is 60 in N: ages cut at 60 of one measure, at 61 of another that tells it."""
    frame = even(8, Age=["59", "60", "61"], Region="NS")
    frame = alone(frame, frame.Age + frame.Region == "60N")
    frame = frame.assign(X=40.0 + np.arange(len(frame)) ** 2 % 37, W=50.0)
    frame = frame.assign(T=frame.V + frame.X)
    first, others = {
        "parts": (Measure("T"), [Measure("V"), Measure("X")]),
        "weights": (COUNT, [Measure(weight="W")]),
        "constant": (COUNT, [Measure("W")]),
    }[kind]
    known = {name: {"role": "identifying"} for name in ("Age", "Region")}
    names = [name for name in frame if name not in "VXWT"]
    people = Microdata.read(frame, records=True, codebook=Codebook.of(known))
    records = Records.read(people, variables=names, measures=[first, *others])
    region, age = Grouping.of(records.variable("Region")), records.variable("Age")

    def at(cut, measure):
        under = [one for one in ("59", "60", "61") if one < cut]
        over = [one for one in ("59", "60", "61") if one >= cut]
        lines = Grouping.cut(age, {"under": under, "over": over})
        return Sheet(f"{cut} {measure}", (lines, region), measure)

    sheets = [at("60", first), *(at(cut, measure) for measure in others)]
    assert judge_batch(records, sheets).together.verdict is verdict
    assert mask(records, sheets).verdict is verdict


@pytest.mark.parametrize(("base", "passes"), [(5, False), (5_000, True)])
@pytest.mark.parametrize("measure", [V, Measure("V", weight="W")])
def test_the_sum_of_a_hidden_category_is_not_told_to_a_few_units(base, passes, measure):
    """Z has some 9,000 in each region: the total less the others, to within 20."""
    frame = even(Sector="ABCZ", Region="NSE").assign(W=1.0)
    frame["V"] = 1_500.0 + np.arange(len(frame)) ** 2 % 97 + 0.37
    records = read(frame, [measure])
    sheets = [sheet(records, "Sector", "Region", measure=measure, left=["Z"])]
    made = mask(records, sheets, HIDDEN, method="round", base=base)
    assert (made.verdict is PASS) == passes
    assert mask(records, sheets, HIDDEN).verdict is PASS
