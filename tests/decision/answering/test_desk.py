"""The request desk: R, M and U against decisions from scratch, and the release rules."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.decision.answering import Desk, Outcome, QuerySpace, Status, Why
from discreet.decision.answering.trial import ShuttleTrial, WholeTrial
from discreet.decision.frontier.brief import Brief
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.errors import PolicyError
from discreet.table.formula import Formula
from discreet.table.lattice import closure, maximal
from discreet.table.load import load
from discreet.table.table import Table

MYOPIC = {
    "server.rule": "myopic",
    "bounds.proof": "outer",
    "attribute.check": False,
    "published.least": 0,
}


def random_table(seed: int, k: int = 4, people: int = 150) -> Table:
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.full(2**k, 0.7))
    counts = rng.multinomial(people, chances).reshape((2,) * k)
    return Table.of(counts, **{"ABCDEFGH"[i]: [0, 1] for i in range(k)})


def policy(**changes) -> Policy:
    return Policy.of(MYOPIC | {key.replace("__", "."): value for key, value in changes.items()})


def from_scratch(table: Table, rules: Policy, out, margin: int) -> Status:
    if any(margin & ~s == 0 for s in out):
        return Status.RELEASED
    formula = Formula(table.names, maximal([*out, margin]))
    failed = decide(table, formula, rules).verdict is Verdict.FAIL
    return Status.GONE if failed else Status.POSSIBLE


@pytest.mark.parametrize("seed", range(6))
def test_every_status_is_that_of_a_decision_from_scratch_after_every_answer(seed):
    table, rules = random_table(seed), policy()
    desk = Desk(table, rules)
    rng = np.random.default_rng(seed)
    for margin in rng.permutation(np.arange(1, 16))[:8].tolist():
        answer = desk.ask(margin)
        assert answer == desk.ask(margin)
        expected = from_scratch(table, rules, desk.out, margin)
        assert (answer.outcome is Outcome.REFUSED) == (expected is Status.GONE)
        if answer.outcome is Outcome.GRANTED:
            desk.take([margin])
        assert desk.space.survey()
        found = desk.space.array()
        for s in range(1, 16):
            status = from_scratch(table, rules, desk.out, s)
            assert desk.standing(s).status is status
            assert [Status.RELEASED, Status.POSSIBLE, Status.GONE][found[s]] is status


@pytest.mark.parametrize("seed", range(4))
def test_the_incremental_bench_agrees_with_the_one_from_scratch(seed):
    """Both see outer bounds: on these tables the shuttle is as narrow as what `decide` finds."""
    table, rules = random_table(seed, people=60), policy(bounds__method="shuttle")
    whole, quick = WholeTrial(Brief(table, rules)), ShuttleTrial(Brief(table, rules))
    rng = np.random.default_rng(seed)
    for judge in (whole, quick):
        judge.take([1, 2, 4, 8])
    for margin in rng.permutation(np.arange(1, 16)).tolist():
        verdict = whole.verdict([margin])
        assert (quick.verdict([margin]) is Verdict.FAIL) == (verdict is Verdict.FAIL)
        if quick.rejects(margin):
            assert verdict is Verdict.FAIL
        if verdict is not Verdict.FAIL:
            whole.take([margin])
            quick.take([margin])
            np.testing.assert_array_equal(whole.widths()[1], quick.widths()[1])


def test_supposing_leaves_no_trace():
    table, rules = random_table(3, people=60), policy()
    for judge in (WholeTrial(Brief(table, rules)), ShuttleTrial(Brief(table, rules))):
        judge.take([1, 2, 4, 8])
        before = judge.widths()[1].copy()
        with judge.supposing([3]) as narrowest:
            assert narrowest == judge.widths()[1].min() <= before.min()
        np.testing.assert_array_equal(judge.widths()[1], before)
        assert judge.out == (1, 2, 4, 8)


def test_what_is_out_and_breaks_a_policy_stops_everything_else():
    desk = Desk(load("example:czech"), policy(small__width=1_000, server__one_way=False))
    desk.take([0b111])
    assert not desk.keeps()
    assert desk.ask(0b11000).outcome is Outcome.REFUSED


@given(st.sets(st.integers(1, 31), max_size=8), st.sets(st.integers(1, 31), max_size=3))
def test_a_survey_finds_any_border(unsafe, released):
    """Gone is whatever holds an unsafe set; groups of margins are tried together."""
    gone = {s for s in range(1, 32) if any(u & ~s == 0 for u in unsafe)}
    released = {s for s in closure(released) if not closure([s]) & gone}
    space = QuerySpace(5, lambda sets: not gone & set(sets), first=[31])
    space.release(released)
    assert space.survey()
    for s in range(1, 32):
        status = Status.RELEASED if s in closure(released) else Status.POSSIBLE
        assert space.known(s) is (Status.GONE if s in gone else status)
    counts = space.counts()
    assert sum(counts["gone"].values()) == len(gone - closure(released))
    assert sum(sum(found.values()) for found in counts.values()) == 31


def test_a_survey_without_time_goes_on_later():
    space = QuerySpace(4, lambda sets: all(s.bit_count() < 3 for s in sets), first=[15])
    assert not space.survey(trials=0)
    assert not space.surveyed
    assert space.survey()
    assert set(space.possible()) == {s for s in range(16) if s.bit_count() == 2}


def test_the_static_rule_serves_the_frontier_and_nothing_else():
    desk = Desk(load("example:czech"), Policy(), frontier=[0b000111, 0b111000])
    assert desk.ask("A*B").outcome is Outcome.GRANTED
    answer = desk.ask("C*D")
    assert (answer.outcome, answer.why) == (Outcome.REFUSED, Why.FRONTIER)
    assert answer.near == (0b000100, 0b001000)
    assert desk.standing(0b001100).status is Status.GONE
    assert desk.space.counts()["possible"] == {}
    with pytest.raises(PolicyError, match="needs a frontier"):
        Desk(load("example:czech"), Policy())


def test_a_limited_step():
    desk = Desk(load("example:czech"), policy(server__step_variables=1))
    assert desk.ask("A*B").outcome is Outcome.GRANTED
    assert desk.ask("A*B*C").why is Why.STEP
    assert desk.standing(0b111).candidate is False
    assert desk.standing(0b111).status is Status.POSSIBLE
    desk.take([0b11])
    assert desk.ask("A*B*C").outcome is Outcome.GRANTED
    assert Desk(load("example:czech"), policy(server__step_cells=4)).ask("A*B*C").why is Why.STEP


def test_curated_candidates_order_cells_quota_and_approval():
    table = load("example:czech")
    curated = Desk(table, policy(server__curated=True), listed=[0b111])
    assert curated.ask("A*B").outcome is Outcome.GRANTED
    assert curated.ask("C*D").why is Why.UNLISTED
    assert Desk(table, policy(server__curated=True)).ask("A*B").why is Why.UNLISTED
    assert Desk(table, policy(server__max_order=2)).ask("A*B*C").why is Why.ORDER
    assert Desk(table, policy(server__cells=7)).ask("A*B*C").why is Why.CELLS
    few = Desk(table, policy(server__quota=2))
    assert few.ask("A*B", received=1).outcome is Outcome.GRANTED
    assert few.ask("A*B", received=2).why is Why.QUOTA
    assert few.ask("A", received=2).why is Why.OUT
    slow = Desk(table, policy(server__approval="always"))
    assert (slow.ask("A*B").outcome, slow.ask("A*B").why) == (Outcome.PENDING, Why.APPROVAL)


def test_bounds_that_are_not_proven_go_before_a_custodian_unless_the_policy_accepts_them():
    table = load("example:czech")
    margins = [sum(1 << p for p in c) for c in combinations(range(6), 2)]
    doubtful = {"bounds.method": "shuttle", "bounds.witness_seconds": 0.0}
    outcomes = {}
    for proof, approval in (("outer", "review"), ("integer", "review"), ("integer", "never")):
        rules = Policy.of(MYOPIC | doubtful | {"bounds.proof": proof, "server.approval": approval})
        desk = Desk(table, rules)
        desk.take(margins[:-1])
        outcomes[proof, approval] = desk.ask(margins[-1]).outcome
    assert outcomes == {
        ("outer", "review"): Outcome.GRANTED,
        ("integer", "review"): Outcome.PENDING,
        ("integer", "never"): Outcome.REFUSED,
    }


def test_a_rejected_margin_and_what_holds_it_are_gone():
    desk = Desk(load("example:czech"), policy())
    desk.rejected = (0b11,)
    assert desk.ask("A*B").why is Why.REJECTED
    assert desk.ask("A*B*C").why is Why.REJECTED
    assert desk.ask("A*C").outcome is Outcome.GRANTED


def test_the_cost_of_a_margin_is_what_it_closes_off():
    table, rules = random_table(1, people=60), policy()
    desk = Desk(table, rules)
    desk.space.survey()
    before = desk.space.array()
    margin = next(s for s in (7, 11, 13, 14, 3, 5) if desk.ask(s).outcome is Outcome.GRANTED)
    cost = desk.cost(margin)
    desk.take([margin])
    desk.space.survey()
    after = desk.space.array()
    assert cost.complete
    assert cost.possible == (before == 1).sum()
    assert cost.gone == ((before == 1) & (after == 2)).sum()
    assert cost.narrowest == desk.trial.widths()[1].min()


def test_where_beliefs_count_every_margin_is_asked_by_itself():
    """A margin can be gone while one that holds it is not: nothing is inferred from others."""
    table, rules = random_table(2, k=3, people=40), policy(belief__most=0.8)
    desk = Desk(table, rules)
    assert desk.space.survey()
    found = desk.space.array()
    for s in range(1, 8):
        status = from_scratch(table, rules, desk.out, s)
        assert [Status.RELEASED, Status.POSSIBLE, Status.GONE][found[s]] is status
    counts = desk.space.counts()
    assert sum(counts["gone"].values()) == (found == 2).sum()
    assert sum(counts["possible"].values()) == (found == 1).sum()
