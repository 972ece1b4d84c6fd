"""Frontiers and the desk by linear bounds: what goes out is wide enough by the simplex."""

import random

import numpy as np
import pytest

from discreet.decision.answering import Desk, Outcome
from discreet.decision.answering import trial as benches
from discreet.decision.frontier import strategy
from discreet.decision.frontier.brief import Brief
from discreet.decision.frontier.frontier import frontier, widths_alone
from discreet.decision.frontier.linear_judge import LinearJudge, grow_blocks, sharp
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.intruder.bounds.part import Part
from discreet.release.release import Release
from discreet.table.lattice import closure
from oracle import named

BETA = 2


def sparse(seed, axes=7, people=150):
    rng = np.random.default_rng(seed)
    cells = 1 << axes
    array = rng.multinomial(people, rng.dirichlet(np.full(cells, 0.3)))
    return named(array.reshape((2,) * axes))


def narrowest(table, formula):
    """By linear programs, of all small counts."""
    small = table.small()
    release = Release.margins(table, formula)
    cells = small.project(release.names)
    found = Part(release).by_programs(release.names, cells, None)
    return int((found.upper - found.lower).min())


@pytest.fixture
def large(monkeypatch):
    """Tables of this size are searched as large ones."""
    monkeypatch.setattr(strategy, "QUICK", 0)
    monkeypatch.setattr(benches, "QUICK", 0)


@pytest.mark.parametrize("seed", range(1))
def test_every_small_count_of_a_frontier_keeps_its_width(large, seed):
    table = sparse(seed)
    found = frontier(table, beta=BETA, proof="linear")
    assert found.decision.verdict is Verdict.PASS
    assert found.rung in ("linear", "integer")
    assert found.certified
    assert narrowest(table, found.formula) >= BETA
    document = found.to_json()
    assert document["rung"] == str(found.rung)
    assert not found.optimal
    for held in document["held_back"]:
        assert held["cells"] >= 1
        assert set(held["margin"]) <= set(table.names)


def test_blocks_leave_out_what_narrows(large):
    """All margins at once: some are blamed, the rest is in, and the blamed ones are remembered."""
    table = sparse(5)
    judge = LinearJudge(Brief(table, widths_alone(BETA)))
    assert judge.restart(())
    ordered = judge.brief.gentle_first
    grown = grow_blocks(judge, ordered)
    assert grown.complete
    assert grown.failed
    assert closure(judge.sets)
    assert narrowest(table, judge.brief.formula(judge.sets)) >= BETA
    assert not closure(judge.sets) & set(grown.failed)
    assert all(grown.failed.values())


def test_add_takes_all_or_nothing(large):
    table = sparse(6)
    judge = LinearJudge(Brief(table, widths_alone(BETA)))
    assert judge.restart(())
    before = list(judge.sets)
    everything = [(1 << len(table.names)) - 1]
    assert not judge.add(everything)
    assert judge.sets == before
    assert judge.add([0b11])
    assert 0b11 in closure(judge.sets)


def test_the_desk_grants_by_linear_bounds(large):
    table, rng = sparse(7), random.Random(1)
    policy = Policy.of(
        {"server.rule": "myopic", "bounds.proof": "linear", "attribute.check": False,
         "published.least": 0, "small.width": BETA, "server.slot": 0.0}
    )  # fmt: skip
    desk, outcomes = Desk(table, policy), set()
    assert desk.trial.linear is not None
    for _ in range(25):
        margin = sum(1 << place for place in rng.sample(range(7), rng.choice((2, 3, 4))))
        answer = desk.ask(margin)
        outcomes.add(answer.outcome)
        if answer.outcome is Outcome.GRANTED:
            desk.take([margin])
            assert narrowest(table, desk.trial.brief.formula(desk.out)) >= BETA
    assert outcomes == {Outcome.GRANTED, Outcome.REFUSED}


def test_other_rules_are_asked_from_scratch(large):
    """Attribute disclosure follows by outer bounds, which linear bounds do not prove."""
    policy = Policy.of({"server.rule": "myopic", "bounds.proof": "linear"})
    assert Desk(sparse(8), policy).trial.linear is None


def test_impossible_combinations_leave_no_closed_form(large):
    """Decomposable margins with a known zero across them: the shuttle's bounds may not be sharp."""
    array = sparse(9).dense().copy()
    array[1, :, 1] = 0
    table = named(array).excluding([{"A": "1", "C": "1"}])
    judge = LinearJudge(Brief(table, widths_alone(BETA)))
    assert sharp(Release.margins(named(array), "A*B + B*C"))
    assert not sharp(judge.brief.release([0b011, 0b110]))
