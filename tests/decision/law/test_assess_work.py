"""How much work an assessment costs: over as few variables as matter, counted, and stopped."""

from itertools import combinations

import numpy as np
import pytest

import discreet as dc
from discreet.decision.law import case as cases
from discreet.decision.law.case import Case
from discreet.intruder.bounds import bounder as bounders
from discreet.intruder.bounds import part as parts
from discreet.intruder.bounds.projection.reach import reach
from discreet.intruder.bounds.work import Work
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


PROJECTED_MARGINS = [(0, 1), (0, 2), (1, 2)]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("proof", ["integer", "linear"])
def test_projections_that_are_cut_short_never_pass_what_is_narrow(monkeypatch, seed, proof):
    """Every table that fits says how wide the small counts are; little work says less, not more."""
    rng = np.random.default_rng(seed)
    array = rng.poisson(rng.choice([0.7, 1.5]), (2, 3, 3))
    array[0, 0, 0] += 1
    tables = fibre(array, PROJECTED_MARGINS)
    small = (array >= 1) & (array <= 2)
    wide = bool((np.ptp(tables, axis=0)[small] >= 2).all())
    monkeypatch.setattr(parts, "QUICK", 0)  # as if it were too large for programs
    policy = dc.Policy.of({"small.width": 2, "bounds.proof": proof})
    for most in (1, 30_000, 10**12):
        monkeypatch.setattr(cases, "PROJECTED", most)
        monkeypatch.setattr(cases, "ALONE", 1)
        found = dc.decide(named(array), PAIRS, policy)
        reason = next(r for r in found.reasons if r.rule == "small counts")
        assert reason.verdict is not (dc.Verdict.FAIL if wide else dc.Verdict.PASS)
        if found.case.short and reason.verdict is dc.Verdict.REVIEW:
            assert "ten times as much" in reason.text
    assert not found.case.short


def test_work_on_projections_is_counted_and_what_it_proves_holds():
    array = np.random.default_rng(5).poisson(1.2, (3, 3, 3))
    release = dc.Release.margins(named(array), PAIRS)
    tables = fibre(array, PROJECTED_MARGINS).reshape(-1, array.size)
    part = bounders.Bounder(release).part("ABC")
    projection, cells = part.projection(1 << 30), np.arange(array.size)
    none, all_ = np.zeros(array.size, np.int64), projection.high.ravel()
    spent = []
    for most in (1.0, 200 * part.step, 10_000 * part.step, 10**12):
        work = Work(most)
        found = reach(projection, cells, none, all_, work=work)
        assert (found.lower <= tables.min(0)).all()
        assert (found.upper >= tables.max(0)).all()
        spent.append((work.most - work.left, work.short))
    assert spent[0] == (0, True)
    assert spent[1][0] <= 200 * part.step
    assert spent[-1][0] > spent[1][0]
    assert not spent[-1][1]
    free = reach(projection, cells, none, all_)
    assert (found.lower == free.lower).all()
    assert (found.upper == free.upper).all()


def test_outer_bounds_that_are_accepted_are_not_cut_short():
    table = dc.load("example:tract")
    case = Case(table, dc.Release.margins(table, "Race + Income"), dc.Policy())
    assert case.bounder.projecting is not None
    outer = dc.Policy.of({"bounds.proof": "outer"})
    assert Case(table, case.release, outer).bounder.projecting is None


def test_margins_in_another_order_are_the_same_part():
    table = named(np.full((2, 2, 2), 3))
    one = bounders.Bounder(dc.Release.margins(table, PAIRS))
    sets = one.release.formula.sets
    assert one._part(("A", "B", "C"), sets) is one._part(("A", "B", "C"), sets[::-1])


@pytest.mark.parametrize(
    ("name", "release"),
    [("tract", "Race*Income + Income*Gender"), ("tract", "Race*Income"), ("blond", "Hair*Income")],
)
def test_what_was_judged_saves_work_and_changes_no_offer(name, release):
    table, policy = dc.load(f"example:{name}"), dc.Policy.of({"alternatives.number": 2})
    judged = dc.decide(table, release, policy)
    with_, alone = (dc.alternatives(table, release, policy, judged=j) for j in (judged, None))
    assert judged.verdict is not dc.Verdict.PASS
    assert [o.how for o in with_] == [o.how for o in alone]


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
