"""How much work an assessment costs: over as few variables as matter, counted, and stopped."""

from itertools import combinations

import numpy as np
import pytest

import discreet as dc
from discreet.decision.law.case import Case
from discreet.intruder.bounds import bounder as bounders
from oracle import fibre, named

PAIRS = "A*B + A*C + B*C"


def _with_more(array, rng, more=(7, 6, 5, 4, 4)):
    """The table beside variables that nobody asks about."""
    rows = np.repeat(np.argwhere(array >= 0), array.ravel(), axis=0)
    others = [rng.integers(0, size, len(rows)) for size in more]
    names = dict(zip("ABCDEFGHIJ", [*rows.T, *others], strict=False))
    shape = (*array.shape, *more)
    dense = np.zeros(shape, int)
    np.add.at(dense, tuple(names.values()), 1)
    return named(dense)


def _told(array, margins, share):
    """Groups by one variable and categories that brute force finds disclosed."""
    tables, found = fibre(array, margins), set()
    for by, of in [(a, b) for a in range(array.ndim) for b in range(array.ndim) if a != b]:
        other = tuple(1 + axis for axis in range(array.ndim) if axis not in (by, of))
        sums = tables.sum(other)
        sums = sums if by < of else np.swapaxes(sums, 1, 2)
        size = sums.sum(2, keepdims=True)
        true = array.sum(tuple(axis - 1 for axis in other))
        true = true if by < of else true.T
        all_told = (sums >= share * size - 1e-9).all(0) | (sums == 0).all(0)
        for group, category in np.argwhere(all_told & (true.sum(1, keepdims=True) > 0)):
            found.add(("ABC"[by], str(group), "ABC"[of], str(category)))
    return found


@pytest.mark.parametrize("seed", range(12))
def test_variables_that_nobody_asks_about_change_nothing(seed):
    """A file of 20,000 times as many cells: the same groups, by every table that fits."""
    rng = np.random.default_rng(seed)
    array = rng.poisson(rng.choice([0.4, 1.0]), (2, 2, 3))
    array[0, 0, 0] += 1
    margins = [[(0, 1), (0, 2), (1, 2)], [(0, 1), (1, 2)], [(0,), (1, 2)]][seed % 3]
    release = " + ".join("*".join("ABC"[a] for a in margin) for margin in margins)
    policy = dc.Policy.of({"attribute.order": 1, "published.least": 0})
    large = dc.decide(_with_more(array, rng), release, policy)
    found = {
        (*next(iter(d.group.items())), d.variable, d.category)
        for d in large.case.attribute.disclosures
        if d.group
    }
    brute = _told(array, margins, policy.attribute.share)
    assert {(g, c, v, k) for g, c, v, k in found} <= brute
    everybody = {(d.variable, d.category) for d in large.case.attribute.disclosures if not d.group}
    assert {(v, k) for _, _, v, k in brute} <= everybody | {(v, k) for _, _, v, k in found}
    assert large.case.told.table.names == ("A", "B", "C")
    small = dc.decide(named(array), release, policy)
    assert [r.text for r in small.reasons[1:]] == [r.text for r in large.reasons[1:]]


def test_what_was_built_for_one_question_serves_the_reduced_one():
    table = _with_more(np.full((2, 2, 2), 3), np.random.default_rng(1))
    case = Case(table, dc.Release.margins(table, PAIRS), dc.Policy())
    assert case.told.bounder.part("ABC") is case.bounder.part("ABC")


def test_work_that_does_not_suffice_is_said(monkeypatch):
    """Programs are counted, never timed; what they did not come to is for a person."""
    table = named(np.random.default_rng(3).poisson(0.7, (3, 3, 3)))
    release = dc.Release.margins(table, PAIRS)
    full = dc.decide(table, release).case
    monkeypatch.setattr(bounders, "PROGRAMS", 1)
    short = dc.decide(table, release)
    assert (full.bounder.work.short, short.case.bounder.work.short) == (False, True)
    # what is not proven is never called safe, and what is proven is the same
    proven = {str(d) for d in full.attribute.disclosures}
    assert {str(d) for d in short.case.attribute.disclosures} <= proven
    reason = next(r for r in short.reasons if r.rule == "attribute disclosure")
    assert reason.verdict is not dc.Verdict.PASS
    assert reason.verdict is dc.Verdict.FAIL or "ten times as many" in reason.text


@pytest.mark.parametrize("effort", [0.5, 4.0])
def test_effort_multiplies_the_work_of_the_policy(effort):
    table = dc.load("example:tract")
    case = dc.decide(table, "Gender*Income + Race", effort=effort).case
    assert case.bounder.effort == effort * case.policy.bounds.effort


def test_a_limit_leaves_review_at_best_and_the_first_line_says_so():
    table = named(np.full((3, 3, 3), 5) + np.arange(27).reshape(3, 3, 3) % 2)
    assert dc.assess(table, PAIRS, seconds=600).verdict is dc.Verdict.PASS
    policy = dc.Policy.of({"small.most": 6})
    late = dc.assess(table, PAIRS, policy, seconds=1e-9)
    assert late.verdict is dc.Verdict.REVIEW
    assert "stopped after 1e-09 seconds" in str(late).splitlines()[0]
    assert late.stopped
    assert late.to_json()["stopped"] == late.stopped
    assert dc.assess(table, PAIRS, policy).verdict is not dc.Verdict.REVIEW


def test_a_fail_that_is_proven_stays():
    late = dc.assess(dc.load("example:tract"), "Race*Income", seconds=1e-9)
    assert late.verdict is dc.Verdict.FAIL
    assert late.alternatives == ()


def test_alternatives_are_those_of_whole_decisions():
    """The first doubt ends the look at an offer; those that pass are judged in full."""
    table = dc.load("example:czech")
    for offer in dc.alternatives(table, "A*B*C + C*D*E", dc.Policy.of({"alternatives.number": 2})):
        whole = dc.decide(table, offer.formula)
        assert [r.text for r in offer.decision.reasons] == [r.text for r in whole.reasons]
        assert offer.decision.verdict is dc.Verdict.PASS


def test_the_others_are_proven_unless_they_are_judged_together():
    """Beside a cell that is too narrow, tables of a large part are looked for only if asked."""
    table = dc.load("example:czech")
    release = dc.Release.margins(table, "A*B*C + C*D*E + A*E*F")
    proof = dc.frontiers.Proof(table, beta=3)
    alone = dc.bounds(release, method="shuttle", proof=proof)
    together = dc.bounds(release, method="shuttle", proof=proof._replace(together=True))
    assert (alone.lower == together.lower).all()
    assert (alone.upper == together.upper).all()
    assert together.status() == alone.status()  # a small part: there is no need to be brief


def test_duplicates_are_bounded_once():
    table = dc.load("example:czech")
    release = dc.Release.margins(
        table, " + ".join("*".join(pair) for pair in combinations("ABCDEF", 2))
    )
    once, cells = dc.bounds(release, table.small()), table.small()
    rows = np.tile(np.arange(len(cells)), 2)
    twice = dc.bounds(release, cells.take(rows))
    assert (twice.lower == once.lower[rows]).all()
    assert (twice.upper == once.upper[rows]).all()
