"""What a released table teaches about a person, as a rule of the policy."""

import dataclasses

import pytest

from discreet.decision.law.alternatives import decide_merged
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.errors import DataError, PolicyError
from discreet.release.release import Release
from discreet.table.formula import as_formula
from discreet.table.load import load
from discreet.table.table import Table

QUIET = {"attribute.check": False, "published.least": 0, "small.width": 0}
ALONE = QUIET | {"knowledge.target": "Estate"}


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"knowledge.group": "Region", "knowledge.limit": 0.25}, "FAIL"),
        ({"knowledge.group": "Region", "knowledge.limit": 0.19}, "PASS"),
        ({"knowledge.limit": 0.25}, "PASS"),
        (
            {"knowledge.group": "Region", "knowledge.measure": "gain", "knowledge.limit": 0.01},
            "FAIL",
        ),
        (
            {
                "knowledge.group": "Region",
                "knowledge.uncertainty": "entropy",
                "knowledge.limit": 0.1,
            },
            "PASS",
        ),
    ],
)
def test_the_rule_decides(change, verdict):
    decision = decide(load("example:estates"), "Region*Estate", Policy.of(ALONE | change))
    (reason,) = [r for r in decision.reasons if r.rule == "knowledge"]
    assert reason.verdict == verdict
    assert decision.verdict == verdict


def test_what_is_not_released_is_expected_from_the_rest():
    """Region and Estate apart lead one to expect the shares of everybody in each region."""
    policy = Policy.of(ALONE | {"knowledge.group": "Region", "knowledge.limit": 0.9})
    decision = decide(load("example:estates"), "Region + Estate", policy)
    assert decision.verdict == "FAIL"
    assert "is expected to be" in str(decision)
    nothing = decide(load("example:estates"), "Region", policy)
    assert nothing.verdict == "PASS"
    assert "Estate is in no released table" in str(nothing)


def test_wrong_names_are_refused():
    with pytest.raises(DataError, match="'Estat'"):
        decide(load("example:estates"), "Region", Policy.of({"knowledge.target": "Estat"}))
    with pytest.raises(PolicyError, match="one of knowledge, gain"):
        Policy.of({"knowledge.measure": "much"})


# Merged categories of the target (section 6)

ILL = Table.of([[8, 6], [1, 2], [1, 2], [10, 10]], Ill=["flu", "cold", "cough", "none"], Sex="fm")
MERGED = {"Ill": {"flu": "ill", "cold": "ill", "cough": "ill", "none": "none"}}
ONLY = QUIET | {"knowledge.target": "Ill", "knowledge.group": "Sex"}


def merged_verdict(**keys):
    policy = Policy.of(ONLY | {f"knowledge.{name}": value for name, value in keys.items()})
    found = decide_merged(ILL, as_formula("Ill*Sex", ILL.names), MERGED, policy)
    (reason,) = [r for r in found.reasons if r.rule == "knowledge"]
    return reason.verdict.value, reason.text


@pytest.mark.parametrize(
    ("prior", "uncertainty", "limit", "verdict", "said"),
    [
        ("known", "largest", 0.5, "PASS", "is 0.5"),
        ("known", "entropy", 1.0128, "FAIL", "may be known, so that merging hides nothing"),
        ("known", "entropy", 1.0125, "PASS", "is 1.013"),
        ("uniform", "entropy", 1.2424, "PASS", "is expected to be 1.242"),
        ("uniform", "entropy", 1.2426, "FAIL", "they are split evenly"),
        ("any", "entropy", 0.6931, "PASS", "may be as low as 0.6931"),
        ("any", "entropy", 0.6932, "FAIL", "they may be split in any way"),
        ("any", "two-sided:1:1", 0.01, "FAIL", "as low as 0"),
        ("weights:flu=2,cold=1,cough=1,none=7", "entropy", 1.2130, "PASS", "1.213"),
        ("weights:flu=2,cold=1,cough=1,none=7", "entropy", 1.2132, "FAIL", "split by weights:"),
    ],
)
def test_a_merge_is_judged_on_the_original_categories(prior, uncertainty, limit, verdict, said):
    """U by hand: flu 8, cold 1, cough 1 of 20 women, none 10; entropy 1.01266."""
    found, text = merged_verdict(prior=prior, uncertainty=uncertainty, limit=limit)
    assert found == verdict, text
    assert said in text


def test_a_column_that_merges_the_target_is_judged_like_a_merge():
    """Also by way of a third column, and where nothing but the merged column is released."""
    wide = ILL.beside("Ill", "Kind", {"flu": "x", "cold": "y", "cough": "y", "none": "none"})
    wide = wide.beside("Kind", "Any", {"x": "ill", "y": "ill", "none": "none"})
    for prior, limit, verdict in (
        ("known", 1.0125, "PASS"),
        ("known", 1.0128, "FAIL"),
        ("uniform", 1.2424, "PASS"),
        ("any", 0.6932, "FAIL"),
    ):
        keys = {"prior": prior, "limit": limit, "uncertainty": "entropy"}
        policy = Policy.of(ONLY | {f"knowledge.{name}": value for name, value in keys.items()})
        found = decide(wide, "Any*Sex", policy)
        assert found.verdict.value == verdict, (prior, limit, str(found))
        assert any("Any merges categories of Ill" in said for said in found.assumptions)
    hidden = wide.merge("Any", {"ill": "one", "none": "one"})
    policy = Policy.of(ONLY | {"knowledge.limit": 0.6, "knowledge.prior": "known"})
    assert decide(hidden, "Any*Sex", policy).verdict == "PASS"  # it says nothing of anybody


def test_the_gain_of_somebody_who_splits_evenly_is_his_own():
    """Before: 20 of 40 ill, split evenly, entropy 1.2425; after, the same for women."""
    found, text = merged_verdict(
        prior="uniform", uncertainty="entropy", measure="gain", limit=0.0001
    )
    assert found == "PASS", text
    skewed = Table.of([[8, 1], [1, 0], [1, 1], [10, 18]], Ill=ILL.variables[0].categories, Sex="fm")
    keys = {"prior": "uniform", "uncertainty": "entropy", "measure": "gain"}
    for limit, verdict in ((0.51, "PASS"), (0.45, "FAIL")):
        policy = Policy.of(
            ONLY | {f"knowledge.{k}": v for k, v in keys.items()} | {"knowledge.limit": limit}
        )
        found = decide_merged(skewed, as_formula("Ill*Sex", ILL.names), MERGED, policy)
        assert found.verdict.value == verdict  # H(12/40 in 3) - H(2/20 in 3) = .5056; true .392


def test_other_tables_of_the_target_leave_every_split_in_doubt():
    wide = ILL.beside("Ill", "Any", MERGED["Ill"])
    policy = Policy.of(ONLY | {"knowledge.limit": 0.6, "knowledge.prior": "any"})
    assert decide(wide, "Any*Sex + Ill", policy).verdict == "REVIEW"
    gain = policy.change({"knowledge.measure": "gain"})
    assert decide(wide, "Any*Sex", gain).verdict == "REVIEW"
    assert decide(wide, "Any*Sex + Ill*Sex", policy).verdict == "FAIL"  # exact, and only 0.5 left


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ("mine", "'mine' is no prior"),
        ("weights:flu=1", "see 'cold'"),
        ("weights:flu=1,cold=0,cough=1,none=1", "'cold' 0; give more"),
        ("weights:flu=x", "write CATEGORY=NUMBER"),
        ("weights:none.csv", "cannot read"),
    ],
)
def test_wrong_priors_are_refused(prior, message):
    with pytest.raises(DataError, match=message):
        decide(ILL, "Ill*Sex", Policy.of(ONLY | {"knowledge.prior": prior}))


def test_weights_from_a_file(tmp_path):
    path = tmp_path / "weights.csv"
    path.write_text("Ill,weight\nflu,2\ncold,1\ncough,1\nnone,7\n")
    keys = {"uncertainty": "entropy", "limit": 1.2130, "prior": f"weights:{path}"}
    assert merged_verdict(**keys)[0] == "PASS"


def test_two_ways_to_merge_and_single_cells_leave_doubt():
    """Margins of merges that cross each other fix no share of what both say together."""
    wide = ILL.beside("Ill", "Cold", {"flu": "n", "cold": "y", "cough": "n", "none": "n"})
    wide = wide.beside("Ill", "Cough", {"flu": "n", "cold": "n", "cough": "y", "none": "n"})
    policy = Policy.of(ONLY | {"knowledge.limit": 0.01, "knowledge.prior": "any"})
    assert decide(wide, "Cold*Sex + Cough*Sex", policy).verdict == "REVIEW"
    assert decide(wide, "Cold*Cough*Sex", policy).verdict == "PASS"  # at worst 18 of 20 alike
    assert (
        decide(wide, "Cold*Cough*Sex", policy.change({"knowledge.limit": 0.11})).verdict == "FAIL"
    )
    nested = ILL.beside("Ill", "Any", MERGED["Ill"])
    nested = nested.beside("Ill", "Kind", {"flu": "x", "cold": "y", "cough": "y", "none": "none"})
    least = policy.change({"knowledge.limit": 0.5})
    assert decide(nested, "Any*Sex + Kind*Sex", least).verdict == "PASS"
    told = Release.margins(nested, "Sex").insider({"Any": "ill", "Sex": "f"}, 10)
    for prior in ("known", "any", "uniform"):
        change = {"knowledge.prior": prior}
        assert decide(nested, told, policy.change(change)).verdict == "REVIEW"


def test_a_table_that_is_not_about_the_target_teaches_nothing():
    """Impossible combinations tell of it only with what is released, or known of a person."""
    wide = ILL.beside("Ill", "Any", MERGED["Ill"])
    for target, formula, verdict in (
        ("Any", "Sex", "PASS"),
        ("Any", "Ill*Sex", "FAIL"),
        ("Ill", "Any*Sex", "FAIL"),
    ):
        keys = {"knowledge.target": target, "knowledge.limit": 0.9}
        found = decide(wide, formula, Policy.of(ONLY | keys))
        assert found.verdict.value == verdict, str(found)
    known = Policy.of(ONLY | {"knowledge.group": "Any", "knowledge.limit": 0.9})
    assert decide(wide, "Sex", known).verdict.value == "FAIL"  # who is not ill has no flu


def test_ranges_that_are_taken_at_their_midpoints_are_said_so():
    table = Table.of([[5, 6], [4, 9]], Income=["0-9", "10-29"], Sex="fm")
    keys = {"knowledge.target": "Income", "knowledge.group": "Sex"}
    keys |= {"knowledge.uncertainty": "variance", "knowledge.limit": 10.0}
    found = decide(table, "Income*Sex", Policy.of(QUIET | keys))
    assert found.verdict.value == "PASS"  # (15 apart)^2 x .24, .2469
    assert any("taken at its midpoint" in said for said in found.assumptions)


def test_what_a_sample_leads_one_to_expect_need_not_be_whole():
    sample = dataclasses.replace(ILL, sampling_fraction=0.1)
    policy = Policy.of(ONLY | {"knowledge.limit": 0.5})
    found = decide(sample, "Ill + Sex", policy)  # 20 of 40 have none
    assert found.verdict.value == "PASS"
    assert "is expected to be 0.5" in str(found)
    assert decide(sample, "Ill + Sex", policy.change({"knowledge.limit": 0.51})).verdict == "FAIL"
