"""Proof by tables of whole numbers, by tables of fractions, or none: what each verdict rests on."""

from itertools import combinations

import numpy as np
import pytest

from discreet.decision.law.assess import assess
from discreet.decision.law.case import Case
from discreet.decision.law.decide import decide
from discreet.decision.law.findings import proven
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Reason, Verdict, weakest
from discreet.intruder.bounds import shares
from discreet.intruder.bounds.bounder import Bounder
from discreet.intruder.bounds.result import NONE_HIGH, NONE_LOW, CellBounds, Rung
from discreet.release.release import Release
from discreet.risk.release.attribute import attribute_risk
from oracle import gap_table, named

RUNGS = tuple(Rung)
WIDTHS = {"attribute.check": False, "published.least": 0, "bounds.witness_seconds": 0.0}
PAIRS = list(combinations("ABCDE", 2))


@pytest.fixture(scope="module")
def gap():
    return gap_table()


def handmade(seen, fits):
    """Intervals 0-9; tables of whole numbers, and of fractions, reach `seen` and `fits` of them."""
    seen, fits = np.array(seen), np.array(fits)
    table = named(np.full(len(seen), 5))
    cells = table.all()
    return table, CellBounds(
        cells.variables,
        cells.codes,
        np.zeros(len(seen), np.int64),
        np.full(len(seen), 9),
        np.where(seen, 0, NONE_LOW),
        np.where(seen, 9, NONE_HIGH),
        np.where(seen | fits, 0, NONE_LOW),
        np.where(seen | fits, 9, NONE_HIGH),
        "by hand",
    )


def judged(seen, fits, proof):
    table, bounds = handmade(seen, fits)
    case = Case(table, Release.margins(table, "A"), Policy.of({"bounds.proof": proof}))
    return proven(case, "small counts", "all is wide", table.all(), bounds, 3)


@pytest.mark.parametrize(
    ("seen", "fits", "rung"),
    [
        ([True, True], [True, True], Rung.INTEGER),
        ([True, False], [True, True], Rung.LINEAR),
        ([True, False, False], [True, True, False], Rung.OUTER),
    ],
)
@pytest.mark.parametrize("asked", RUNGS)
def test_what_reaches_less_than_is_asked_is_for_a_person(seen, fits, rung, asked):
    found = judged(seen, fits, str(asked))
    assert found.rung is rung
    enough = RUNGS.index(rung) <= RUNGS.index(asked)
    assert found.verdict is (Verdict.PASS if enough else Verdict.REVIEW)


@pytest.mark.parametrize(
    ("seen", "fits", "asked", "text"),
    [
        ("11", "11", "integer", "all is wide."),
        ("10", "11", "linear", "all is wide (reached by tables of fractions, as the policy "
         "allows)."),
        ("10", "10", "outer", "all is wide (outer bounds, accepted by the policy)."),
        ("10", "11", "integer", "all is wide, but 1 of these intervals is reached by tables of "
         "fractions only, not by tables of whole numbers."),
        ("100", "100", "linear", "all is wide, but 2 of these intervals are reached by no table "
         "that was found."),
        ("000", "110", "integer", "all is wide, but 3 of these intervals are not reached by tables "
         "of whole numbers that were found: 2 by tables of fractions only, 1 by no table."),
    ],
)  # fmt: skip
def test_the_finding_says_what_reaches_the_intervals(seen, fits, asked, text):
    found = judged([c == "1" for c in seen], [c == "1" for c in fits], asked)
    assert found.text == text


def test_the_cells_that_are_not_reached_are_named():
    assert [c["cell"] for c in judged([True, False], [True, True], "integer").cells] == [{"A": "1"}]
    assert [c["cell"] for c in judged([True, False], [False] * 2, "linear").cells] == [{"A": "1"}]


@pytest.mark.parametrize(
    ("changes", "verdict", "line"),
    [
        ({"bounds.proof": "integer"}, "REVIEW", "proof asked: tables of whole numbers;"),
        ({"bounds.proof": "linear"}, "PASS", "by linear bounds, which tables of fractions reach;"),
        ({"bounds.proof": "outer"}, "PASS", "by linear bounds, which tables of fractions reach;"),
        ({"bounds.proof": "outer", "bounds.method": "shuttle"}, "PASS",
         "by outer bounds, which prove nothing;"),
        ({"bounds.proof": "linear", "bounds.method": "shuttle"}, "REVIEW",
         "proof asked: tables of fractions;"),
        ({"bounds.proof": "linear", "bounds.method": "integer"}, "FAIL",
         "proof asked: tables of fractions;"),
        ({"bounds.proof": "outer", "bounds.method": "integer"}, "FAIL",
         "no proof asked: outer bounds accepted;"),
        ({"bounds.proof": "outer", "bounds.method": "integer", "small.width": 0}, "PASS",
         "proven by tables of whole numbers;"),
    ],
)  # fmt: skip
def test_fractions_may_reach_what_whole_numbers_do_not(gap, changes, verdict, line):
    """Linear programs leave a width of 1 where all tables of whole numbers agree."""
    policy = Policy.of(WIDTHS | {"bounds.method": "linear", "small.width": 1} | changes)
    found = decide(gap, PAIRS, policy)
    assert found.verdict == verdict
    assert line in str(found).splitlines()[0]


def test_the_document_has_the_rung(gap):
    policy = Policy.of(
        WIDTHS | {"bounds.method": "linear", "small.width": 1, "bounds.proof": "linear"}
    )
    found = assess(gap, PAIRS, policy).to_json()
    assert (found["verdict"], found["rung"]) == ("PASS", "linear")
    assert {cell["rung"] for cell in found["risk"]["cells"]} == {"integer", "linear"}


def test_of_reasons_the_weakest_counts():
    assert weakest([Rung.INTEGER, Rung.LINEAR]) is Rung.LINEAR
    assert weakest([Rung.LINEAR, Rung.OUTER, Rung.INTEGER]) is Rung.OUTER
    assert weakest([Reason("fine", Verdict.PASS, "all is well.").rung]) is Rung.INTEGER


# Attribute disclosure


def risk(table, release, method, **options):
    return attribute_risk(table, Bounder(release, method=method), **options)


def test_a_group_can_be_known_by_whole_numbers_and_not_by_fractions(gap, monkeypatch):
    """Fractions settle it only where whole numbers do not: what is known stays known."""
    release = Release.margins(gap, PAIRS)
    sharp = risk(gap, release, "linear")
    assert sharp.rung is Rung.INTEGER
    assert sharp.disclosures == risk(gap, release, "integer").disclosures
    monkeypatch.setattr(shares, "PATIENCE", 0)  # no branch and bound
    loose = risk(gap, release, "linear")
    assert loose.rung is Rung.LINEAR
    assert 0 < len(loose.disclosures) < len(sharp.disclosures)


def test_attribute_disclosure_rests_on_what_the_policy_asks(monkeypatch):
    monkeypatch.setattr(shares, "PATIENCE", 0)
    array = np.random.default_rng(0).poisson(0.9, (2,) * 5)
    keys = {"published.least": 0, "small.width": 0, "bounds.method": "linear"}

    def found(**changes):
        policy = Policy.of(keys | {f"bounds.{key}": value for key, value in changes.items()})
        (reason,) = [
            r for r in decide(named(array), PAIRS, policy).reasons if r.rule.startswith("attr")
        ]
        return reason

    asked = found(proof="integer")
    assert (asked.verdict, asked.rung) == (Verdict.REVIEW, Rung.LINEAR)
    assert asked.text.startswith("tables of fractions show that nothing is disclosed, but")
    linear = found(proof="linear")
    assert (linear.verdict, linear.rung) == (Verdict.PASS, Rung.LINEAR)
    assert linear.text.endswith("(reached by tables of fractions, as the policy allows).")
    unproven = found(proof="linear", method="shuttle")
    assert (unproven.verdict, unproven.rung) == (Verdict.REVIEW, Rung.OUTER)
    assert unproven.text.startswith("nothing is disclosed by outer bounds, but")
