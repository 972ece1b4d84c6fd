"""Verdicts, and the laws that they keep."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.decision.law.decide import decide, ruling
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.release.release import Release
from discreet.table.load import load
from discreet.table.table import Table
from oracle import letters, named, releases, small_tables


def rules(decision):
    return {reason.rule: reason for reason in decision.reasons}


def test_the_finding_comes_in_words():
    decision = decide(load("example:tract"), "Race*Income + Income*Gender")
    assert decision.verdict is Verdict.FAIL
    text = rules(decision)["small counts"].text
    assert text.startswith("a count of 1 in Male, Chinese, up to $10,000 can be narrowed to 0-1")
    assert "3 more cells" in text


def test_two_releases_can_be_safe_alone_and_not_together():
    table = load("example:tract")
    policy = Policy.of({"small.width": 4, "attribute.check": False, "published.least": 0})
    assert decide(table, "Gender*Income + Race", policy).verdict is Verdict.PASS
    alone = decide(table, "Race*Income", policy).verdict
    together = decide(table, "Race*Income", policy, released="Gender*Income")
    assert str(together.release.formula) == "Race*Income + Gender*Income"
    assert (alone, together.verdict) == (Verdict.FAIL, Verdict.FAIL)
    array = np.array([[3, 1], [1, 3]])
    square, loose = (
        named(array),
        Policy.of({"small.width": 4, "attribute.check": False, "published.least": 0}),
    )
    assert decide(square, "A", loose).verdict is Verdict.PASS
    assert decide(square, "B", loose).verdict is Verdict.PASS
    assert decide(square, "A*B", loose).verdict is Verdict.FAIL


def test_outer_bounds_are_no_proof():
    """Witnesses are; without them it takes the policy's word."""
    array = np.random.default_rng(3).integers(0, 9, (3, 3, 3, 2))
    table, margins = named(array), list(combinations("ABCD", 2))
    policy = Policy.of(
        {"attribute.check": False, "published.least": 0, "small.most": 9, "bounds.seconds": 0}
    )
    assert decide(table, margins, policy).verdict is Verdict.PASS
    policy = policy.change({"bounds.witness_seconds": 0})
    decision = decide(table, margins, policy)
    assert decision.verdict is Verdict.REVIEW
    assert "reached by no table that was found" in rules(decision)["small counts"].text
    outer = {"bounds.proof": "outer", "bounds.method": "shuttle", "bounds.seconds": 60}
    accepted = decide(table, margins, policy.change(outer))
    assert accepted.verdict is Verdict.PASS
    assert "accepted by the policy" in rules(accepted)["small counts"].text


def test_nothing_passes_by_what_was_not_looked_at():
    """Outer bounds are accepted; but those that programs would narrow were stopped."""
    array = np.random.default_rng(3).integers(0, 9, (3, 3, 3, 2))
    table, margins = named(array), list(combinations("ABCD", 2))
    policy = Policy.of(
        {
            **{"attribute.check": False, "published.least": 0, "small.most": 9},
            **{"bounds.proof": "outer", "bounds.witness_effort": 0},
        }
    )
    assert decide(table, margins, policy).stopped is None
    stopped = decide(table, margins, policy, seconds=1e-9)
    assert stopped.verdict is Verdict.REVIEW
    assert stopped.stopped.startswith("stopped by the limit of 1e-09 seconds: ")
    text = rules(stopped)["small counts"].text
    assert f"But the work was {stopped.stopped}" in text
    release = Release.margins(table, margins)
    assert ruling(table, release, policy.effort(seconds=1e-9)) is not Verdict.PASS


def test_groups_that_were_not_checked_are_no_pass():
    array = np.full((2, 2, 2), 9)
    decision = decide(named(array), "A*B + B*C", Policy.of({"attribute.order": 1}))
    assert decision.verdict is Verdict.REVIEW
    assert "raise attribute.order" in rules(decision)["attribute disclosure"].text
    assert decide(named(array), "A*B + B*C").verdict is Verdict.PASS


def test_closeness_is_a_rule_when_asked_for():
    table = load("example:tract")
    assert "closeness" not in rules(decide(table, "Gender*Income + Race"))
    close = decide(table, "Gender*Race*Income", Policy.of({"closeness.share": 0.1}))
    assert rules(close)["closeness"].verdict is Verdict.FAIL
    assert close.risk["closest"] == 0
    wide = decide(table, "Gender + Race + Income", Policy.of({"closeness.share": 0.05}))
    assert rules(wide)["closeness"].verdict is Verdict.PASS


def test_assumptions_are_said():
    said = " ".join(decide(load("example:czech"), "A*B").assumptions)
    assert "taken as identifying and sensitive: A, B, C, D, E, F" in said
    assert "whole population" in said
    known = Release.margins(load("example:tract"), "Race").insider({"Gender": "Male"}, 356)
    assert "known to an insider" in " ".join(decide(load("example:tract"), known).assumptions)


@given(st.data(), small_tables(most_people=40, most_cells=24))
@settings(max_examples=60)
def test_less_never_turns_a_pass_into_a_failure(data, array):
    """Releasing fewer margins never makes a verdict worse."""
    table = named(array)
    margins = data.draw(releases(array.ndim))
    fewer = data.draw(st.lists(st.sampled_from(margins), min_size=1, unique=True))
    policy = Policy.of({"small.width": data.draw(st.integers(1, 4)), "bounds.proof": "outer"})
    more = decide(table, letters(margins), policy)
    less = decide(table, letters(fewer), policy)
    assert less.verdict.rank <= more.verdict.rank


@given(st.data(), small_tables(most_people=40, most_cells=24))
@settings(max_examples=40)
def test_the_verdict_is_joint_with_what_is_out(data, array):
    table = named(array)
    one, two = data.draw(releases(array.ndim)), data.draw(releases(array.ndim))
    joint = decide(table, letters([*one, *two]))
    assert decide(table, letters(one), released=letters(two)).verdict is joint.verdict


@pytest.mark.parametrize(("most", "words"), [(1, "count of 1."), (5, "count of 1 to 5.")])
def test_nothing_small_is_said(most, words):
    decision = decide(named(np.full((2, 2), 9)), "A*B", Policy.of({"small.most": most}))
    assert rules(decision)["small counts"].text.endswith(words)


def test_a_rule_whose_work_was_stopped_is_in_doubt_and_has_no_measure():
    """Beliefs that a clock stopped before there were any: REVIEW, and the report can be made."""
    rng = np.random.default_rng(3)
    table = Table.of(rng.poisson(1.0, (4, 4, 4)), **{n: list("abcd") for n in "ABC"})
    keys = {"belief.most": 0.9, "belief.model": "saturated", "attribute.check": False}
    policy = Policy.of(keys | {"published.least": 0, "small.width": 0, "belief.seconds": 1e-9})
    found = decide(table, "A*B + B*C + A*C", policy)
    assert found.verdict is Verdict.REVIEW
    assert isinstance(found.risk, dict)
    assert found.assumptions
    release = Release.margins(table, "A*B + B*C + A*C")
    assert ruling(table, release, policy) is not Verdict.PASS


@pytest.mark.parametrize("tables", ["A*B: 0", "B*A: 12; A*B: 0", "A*B: 0; B*A: 12"])
def test_the_least_of_a_table_is_never_below_that_of_all(tables):
    """A lower one let a count of 1 pass, also where `published.least` was locked."""
    table = named(np.array([[1, 60], [35, 40]]))
    alone = {"attribute.check": False, "small.width": 0, "published.least": 10}
    found = decide(table, "A*B", Policy.of(alone | {"published.tables": tables}))
    assert found.verdict is Verdict.FAIL
    text = rules(found)["published cells"].text
    assert f"the policy asks for {12 if '12' in tables else 10} or more" in text
    large = named(np.array([[11, 60], [35, 40]]))
    found = decide(large, "A*B", Policy.of(alone | {"published.tables": tables}))
    assert found.verdict is (Verdict.FAIL if "12" in tables else Verdict.PASS)
