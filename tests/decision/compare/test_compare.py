"""Masks side by side: the choice, who is served, the cache, and any number of workers."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from discreet.decision.compare.compare import compare
from discreet.decision.compare.plan import Plan
from discreet.decision.compare.tried import Tried
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.errors import DataError, OptionError, OutputError
from discreet.report.html import html_report
from discreet.report.written.masked_file import write_masked
from maskcases import people

MASKS = [
    {"name": "whole", "method": "sample", "share": 1.0},
    {"name": "tenth", "method": "sample", "share": 0.1},
    {"name": "noise", "method": "noise", "columns": ["income"], "spread": 0.5},
    {"name": "groups", "method": "microaggregate", "columns": ["income", "age"], "k": 20,
     "few": "blank"},
    {"name": "rounds", "chain": [
        {"method": "top-code", "columns": ["income"], "top": 0.05},
        {"method": "noise", "columns": ["income"], "spread": 0.3},
    ]},
    {"name": "wrong", "method": "sample", "records": 1000},
]  # fmt: skip
PLAN = {"seed": 5, "keys": ["income", "age"], "sensitive": ["ill", "savings"], "masks": MASKS}


def alone(records, **options):
    """People without households."""
    file = people(records, **options)
    return replace(file, data=file.data.drop(columns="home"), household=None)


@pytest.fixture(scope="module")
def found():
    return compare(alone(300), PLAN, Policy().set(["masks.limit=0.2"]))


def test_the_choice_is_the_most_useful_mask_within_the_limit(found):
    frame = found.to_frame().set_index("mask")
    within = frame[frame["disclosed"] <= 0.2]
    assert found.best == within["utility"].idxmax()
    assert found.verdict is Verdict.PASS
    assert frame.loc["whole", "identified"] == 1
    assert frame.loc["whole", "utility"] == 1
    assert frame["chosen"].sum() == 1


def test_what_cannot_be_made_is_told_and_stops_nothing(found):
    assert [one.name for one in found.failed] == ["wrong"]
    assert "up to the 300 of the file" in found.failed[0].failed
    assert len(found.to_frame()) == 5


@pytest.mark.parametrize("beside", [[], MASKS[1:2]], ids=["alone", "beside another"])
@pytest.mark.parametrize(
    ("mask", "said"),
    [
        ({"method": "sample", "share": 2}, "share of sample is 2; give a number from 0 up to 1"),
        ({"method": "swap", "block": "sex", "rate": 2}, "rate is 2"),
        ({"method": "synthesise", "copies": 0}, "0 copies are asked for"),
        ({"method": "synthesise", "copies": "x"}, "copies of synthesise is 'x'; give a whole"),
        ({"method": "synthesise", "model": "odd"}, "there is no model 'odd'"),
        ({"method": "private", "epsilon": -1}, "epsilon is -1"),
        ({"method": "blank", "columns": ["age"], "k": "x"}, "k of blank is 'x'"),
        ({"method": "recode", "columns": ["age"], "levels": 3}, "levels of recode is 3"),
        ({"method": "odd"}, "there is no mask 'odd'"),
    ],
)
def test_options_that_no_mask_has_are_wrong_input(mask, said, beside):
    plan = {**PLAN, "masks": [{"name": "mine", **mask}, *beside]}
    file = alone(30)
    file = replace(file, data=file.data.drop(columns="weight"), weight=None)
    with pytest.raises(OptionError, match=f"^mask 'mine': .*{said}"):
        compare(file, plan)


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        ({"method": "private", "epsilon": -1}, "epsilon is -1"),
        ({"method": "synthesise", "copies": 0}, "0 copies are asked for"),
        ({"method": "synthesise", "weight": "x"}, "weight of synthesise is 'x'; give a number"),
        ({"method": "synthesise", "model": "Odd"}, "unknown variable 'Odd'"),
        ({"method": "cell-key", "pstay": 2.0}, "pstay is 2.0"),
        ({"method": "cell-key", "D": 0}, "D is 0"),
        ({"method": "round", "base": 1}, "base is 1"),
        ({"method": "round", "kind": "odd"}, "kind is 'odd'"),
        ({"method": "suppress", "optimal": "x"}, "optimal of suppress is 'x'; give true or false"),
        ({"method": "suppress", "known": -1}, "known is -1"),
        ({"method": "suppress", "costs": "odd"}, "costs is 'odd'"),
        ({"method": "merge", "merge": 3}, "merge of merge is 3"),
        ({"method": "perturb"}, "perturb needs 'keep'"),
        ({"method": "odd"}, "no mask of a table is called 'odd'"),
    ],
)
def test_options_that_no_mask_of_a_table_has_are_wrong_input(mask, said):
    plan = {"of": "table", "masks": [{"method": "whole"}, {"name": "mine", **mask}]}
    with pytest.raises(OptionError, match=f"^mask 'mine': .*{said}"):
        compare("example:tract", plan)


def test_a_column_that_is_not_there_is_wrong_input():
    """Also beside masks that can be made: a masks file is made for its data."""
    plan = {**PLAN, "masks": [MASKS[0], {"method": "pram", "columns": ["icome"]}]}
    with pytest.raises(
        OptionError, match=r"mask 'pram': .*no column 'icome'; did you mean 'income'"
    ):
        compare(alone(30), plan)


def test_where_no_mask_can_be_made_the_input_is_wrong():
    plan = {**PLAN, "masks": [MASKS[-1]]}
    with pytest.raises(DataError, match="records of sample is 1000"):
        compare(alone(30), plan)


def test_the_choice_moves_with_the_limit(found):
    for limit, best in found.steps:
        assert found.at(limit).best == best
        assert found.with_limit(limit).best == best
    assert found.at(1.0).best == "whole"


def test_two_workers_find_the_same(found):
    again = compare(alone(300), PLAN, Policy().set(["masks.limit=0.2"]), workers=2)
    assert [one.to_json() for one in again.tried] == [one.to_json() for one in found.tried]
    pd.testing.assert_frame_equal(found.data("noise").data, again.data("noise").data)


def test_the_order_of_masks_changes_none_of_them(found):
    turned = compare(alone(300), PLAN | {"masks": MASKS[::-1]})
    assert {one.name: one for one in turned.tried} == {one.name: one for one in found.tried}


def test_what_was_found_is_kept_as_numbers_only(found, tmp_path):
    one = compare(alone(300), PLAN, Policy().set(["masks.limit=0.2"]), cache=tmp_path)
    kept = sorted(tmp_path.iterdir())
    assert len(kept) == 5
    for path in kept:
        path.write_text(json.dumps(json.loads(path.read_text()) | {"utility": 0.123}))
    two = compare(alone(300), PLAN, Policy().set(["masks.limit=0.2"]), cache=tmp_path)
    assert {o.utility for o in two.tried if not o.failed} == {0.123}
    other = compare(alone(300, seed=2), PLAN, Policy().set(["masks.limit=0.2"]), cache=tmp_path)
    assert 0.123 not in {o.utility for o in other.tried}
    assert [o.to_json() for o in one.tried] == [o.to_json() for o in found.tried]


def test_the_cache_knows_what_nobody_can_have(tmp_path):
    cells = pd.DataFrame(
        [(a, b, r) for a in ("<50", "50+") for b in ("<51", "51+") for r in "NS"],
        columns=["A50", "A51", "R"],
    ).assign(n=[100, 80, 0, 0, 4, 5, 90, 70])
    plan = {"of": "table", "seed": 3, "masks": [{"method": "margins", "release": "A50*R + A51*R"}]}
    sets = ["masks.limit=1", "small.most=5", "published.least=0", "attribute.check=false"]
    policy = Policy().set(sets)
    for impossible in ("none", None, [{"A50": "<50", "A51": "51+"}]):
        options = {"count": "n", "impossible": impossible}
        fresh = compare(cells, plan, policy, **options)
        kept = compare(cells, plan, policy, cache=tmp_path, **options)
        assert kept.verdict is fresh.verdict, impossible
        assert (fresh.verdict is Verdict.PASS) == (impossible == "none")


def test_of_masks_alike_the_one_of_less_risk_is_chosen(found):
    tried = tuple(
        Tried(name, "x", {"disclosed": risk}, 0.5) for name, risk in (("a", 0.15), ("b", 0.05))
    )
    assert replace(found, tried=tried).best == "b"


def test_what_the_law_forbids_is_not_chosen(found):
    tried = (
        Tried("a", "x", {"disclosed": 0.0}, 0.9, law=Verdict.FAIL),
        Tried("b", "x", {"disclosed": 0.0}, 0.5, law=Verdict.PASS),
        Tried("c", "x", {"disclosed": 0.0}, 0.7, law=None, doubt="no rule knows it"),
    )
    table = replace(found, tried=tried, plan=replace(found.plan, of_table=True))
    assert table.best == "c"
    assert table.verdict is Verdict.REVIEW  # no rule knows the mask
    assert replace(table, tried=tried[:2]).verdict is Verdict.PASS
    assert "forbid a" in " ".join(table.why())
    assert "Without a doubt it would be b." in table.why()
    assert replace(table, tried=tried[:1]).verdict is Verdict.FAIL


def test_people_of_a_household_or_with_an_unguarded_number_are_looked_at(found):
    options = {"policy": Policy().set(["masks.limit=0.2"])}
    together = compare(people(300), PLAN | {"masks": MASKS[3:4]}, **options)
    assert together.verdict is Verdict.REVIEW
    assert "household" in " ".join(together.why())
    homes = together.data().data["home"]
    assert sorted(homes.value_counts()) == sorted(people(300).data["home"].value_counts())
    numbered = alone(300).with_columns(weight=np.arange(300))
    unguarded = replace(numbered, weight=None)
    seen = compare(unguarded, PLAN | {"masks": MASKS[3:4]}, **options)
    assert seen.verdict is Verdict.REVIEW
    assert "weight is different for nearly everybody" in " ".join(seen.why())


@pytest.mark.parametrize(
    "mask",
    [
        {"method": "sample", "share": 1.0},
        {"method": "top-code", "columns": "pay", "high": 1e9},
        {"method": "pram", "columns": ["pay"], "keep": 1.0},
        {"method": "pram", "columns": ["pay"], "keep": 0.9},
        {"method": "noise", "columns": "pay", "spread": 1e-7},
        {"method": "rank-swap", "columns": "pay", "window": 0.004},
        {"method": "univariate", "columns": "pay", "k": 3},
        {"method": "microaggregate", "columns": "pay", "k": 2},
        {"method": "swap", "block": ["pay", "ill"], "rate": 0.5},
        {"method": "synthesise", "columns": ["birth"], "given": ["ill"]},
        {"method": "synthesise", "model": "formula", "formula": "birth*ill", "copies": 8},
    ],
    ids=str,
)
def test_a_mask_that_leaves_everybody_apart_is_looked_at(mask):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"sex": list("fm") * 150, "ill": rng.choice(["no", "yes"], 300)})
    if mask["method"] == "synthesise":
        days = pd.date_range("1960-01-01", periods=300).strftime("%d.%m.%Y")
        frame["birth"] = rng.permutation(days)
    else:
        frame["pay"] = rng.normal(50_000, 9_000, 300).round(2)
    plan = {"keys": ["sex"], "masks": [mask]}
    seen = compare(frame, plan, Policy().set(["masks.limit=0.5"]), records=True)
    assert not seen.tried[0].failed
    assert seen.verdict is Verdict.REVIEW
    assert re.search("(pay|birth) is (different for|shared by)", " ".join(seen.why()))


@pytest.mark.parametrize(
    "mask",
    [
        {"method": "noise", "columns": "pay", "spread": 0.2},
        {"method": "rank-swap", "columns": "pay", "window": 0.1},
        {"method": "univariate", "columns": "pay", "k": 10},
        {"method": "pram", "columns": ["pay"], "keep": 0.0, "alpha": 1.0},
    ],
    ids=str,
)
def test_a_mask_that_makes_people_alike_is_enough(mask):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"sex": list("fm") * 150, "pay": rng.normal(50_000, 9_000, 300).round(2)})
    seen = compare(frame, {"keys": ["sex"], "masks": [mask]}, Policy(), records=True)
    assert seen.verdict is Verdict.PASS


def test_users_whom_no_one_mask_serves_are_told(found):
    users = [
        {"name": "economist", "columns": ["income"], "least": 0.95},
        {"name": "doctor", "columns": ["ill"], "least": 0.95},
    ]
    plan = Plan.of(PLAN | {"users": users})

    def said(*served):
        tried = tuple(
            Tried(name, "x", {"disclosed": 0.0}, 0.5, {"economist": a, "doctor": b})
            for name, (a, b) in zip("ab", served, strict=True)
        )
        return " ".join(replace(found, plan=plan, tried=tried).unserved())

    assert "serves doctor and economist" in said((1, 1), (0, 0))
    assert "a second one must be judged with the first" in said((1, 0), (0, 1))
    assert "No mask within the limit serves doctor" in said((1, 0), (1, 0))


def test_a_sensitive_value_is_told_by_groups_that_share_it():
    frame = pd.DataFrame({"town": list("aaabbb"), "ill": ["yes"] * 3 + ["no"] * 3})
    plan = {"keys": ["town"], "sensitive": ["ill"], "masks": [{"method": "sample", "share": 1.0}]}
    found = compare(frame, plan, Policy().set(["masks.act=0.9"]), records=True)
    risks = found.tried[0].risks
    assert risks["identified"] == 0
    assert risks["attribute"] == 1
    assert found.verdict is Verdict.FAIL


def test_the_chosen_data_and_their_record_have_nothing_of_the_seed(found, tmp_path):
    written = write_masked(found, tmp_path / "out.csv", intruder=tmp_path / "intruder.toml")
    assert [path.name for path in written] == ["out.csv", "out.csv.json", "intruder.toml"]
    record = (tmp_path / "out.csv.json").read_text()
    assert '"seed"' not in record
    assert json.loads(record)["rows"] == len(pd.read_csv(tmp_path / "out.csv"))
    with pytest.raises(OutputError, match="there already"):
        write_masked(found, tmp_path / "out.csv")
    with pytest.raises(DataError, match=r"\.csv, \.parquet"):
        write_masked(found, tmp_path / "out.doc")
    write_masked(found, tmp_path / "out.parquet")
    assert len(pd.read_parquet(tmp_path / "out.parquet")) == json.loads(record)["rows"]


def test_released_records_are_in_random_order(found):
    rows = found.data("whole").rows
    assert sorted(rows) == list(range(300))
    assert abs(np.corrcoef(rows, np.arange(300))[0, 1]) < 0.3


def test_the_page_shows_the_choice_at_every_limit_without_a_script(found):
    page = html_report(found)
    assert "<script" not in page
    assert page.count('type="radio"') == len({limit for limit, _ in found.steps} | {found.limit})
    assert page.count(" checked") == 1
    for one in found.tried:
        assert one.name in page


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"masks": []}, "has no mask"),
        ({"masks": [{"columns": ["a"]}]}, "has no method"),
        ({"masks": [MASKS[0], MASKS[0]]}, "two masks"),
        ({"of": "people"}, "write one of records, table"),
        ({"seed": -1}, "whole number"),
        ({"colour": 1}, "not known"),
        ({"keys": ["nowhere"]}, "no column 'nowhere'"),
    ],
)
def test_a_wrong_plan_is_one_sentence(change, said):
    with pytest.raises(DataError, match=said):
        compare(people(60), PLAN | {"masks": MASKS[:1]} | change)


def test_a_plan_without_a_seed_has_one_of_its_own():
    content = {"keys": ["age"], "masks": MASKS[:1]}
    assert Plan.of(content).seed != Plan.of(content).seed
