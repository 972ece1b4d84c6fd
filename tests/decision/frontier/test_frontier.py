"""Frontiers: never unsafe, closed, and as large as brute force finds."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clocks import set_clock
from discreet.decision.frontier.brief import Brief
from discreet.decision.frontier.exchange import exchange
from discreet.decision.frontier.frontier import frontier
from discreet.decision.frontier.growing import grow
from discreet.decision.frontier.judge import ShuttleJudge, WholeJudge
from discreet.decision.frontier.tradeoff import tradeoff
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.errors import DataError, DisclosureError, Stopped
from discreet.intruder.bounds.bounder import bounds
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.lattice import closure
from discreet.table.load import load
from discreet.table.table import Table
from oracle import named


def random_table(seed, shape=(2, 2, 2)):
    rng = np.random.default_rng(seed)
    size = int(np.prod(shape))
    array = rng.multinomial(60, rng.dirichlet(np.full(size, 0.7))).reshape(shape)
    return named(array)


@pytest.mark.parametrize("method", ["best", "greedy", "decomposable"])
@pytest.mark.parametrize("seed", range(6))
def test_never_unsafe_and_closed(method, seed):
    table = random_table(seed, (2, 3, 2, 2))
    if not len(table.small()):
        with pytest.raises(DataError, match="no count of 1 to 2"):
            frontier(table, method=method)
        return
    try:
        found = frontier(table, beta=2, method=method)
    except DisclosureError:
        one_way = Release.margins(table, [[name] for name in table.names])
        assert bounds(one_way, table.small()).narrowest < 2
        return
    release = Release.margins(table, found.formula)
    assert bounds(release, table.small()).narrowest == found.min_width >= 2
    assert found.released == len(closure(found.formula.sets))
    assert found.certified


def antichains(k):
    """Every set of margins of which none contains another; 168 of four variables, with nothing."""
    found, sets = [()], range(1, 1 << k)
    grown = [((), 0)]
    while grown:
        chain, least = grown.pop()
        for margin in sets[least:]:
            if all(margin & ~m and m & ~margin for m in chain):
                found.append((*chain, margin))
                grown.append(((*chain, margin), margin))
    return found


def optimum(table, beta):
    """The most margins of any closed set that keeps beta, by sharp bounds over all antichains."""
    best, small = 0, table.small()
    for sets in sorted(antichains(len(table.names)), key=lambda sets: -len(closure(sets))):
        if len(closure(sets)) <= best:
            break
        release = Release.margins(table, Formula(table.names, sets))
        if bounds(release, small, method="integer").narrowest >= beta:
            best = len(closure(sets))
    return best


def test_the_antichains_of_four_variables():
    assert len(antichains(4)) == 167  # and {the empty set}, which is the total


@pytest.mark.parametrize("seed", range(12))
def test_best_is_the_optimum(seed):
    """All 168 antichains of four variables; the benchmark has 100 tables."""
    table = random_table(seed, (2, 2, 2, 2))
    if not len(table.small()):
        return
    beta = 1 + seed % 3
    most = optimum(table, beta)
    if not most:
        with pytest.raises(DisclosureError, match="not even the one-way"):
            frontier(table, beta=beta, certified=True)
        return
    found = frontier(table, beta=beta, certified=True)
    assert found.released == most == found.at_most
    assert found.optimal
    assert found.certified
    assert found.decision.verdict == "PASS"


POLICIES = (
    {"small.width": 1},
    {"small.width": 2, "attribute.exclusion": False},
    {"small.width": 1, "closeness.share": 0.5},
    {"attribute.check": False, "published.least": 0, "tables.least": 50},
    {"small.most": 1, "small.width": 2, "attribute.share": 0.8, "attribute.order": 1},
)


def _passes(table, margins, policy):
    return decide(table, margins, policy).verdict is not Verdict.FAIL


@pytest.mark.parametrize("quick", [500_000, 0], ids=["whole", "shuttle"])
@pytest.mark.parametrize("changes", POLICIES, ids=str)
def test_assess_never_contradicts_the_frontier(changes, quick, monkeypatch):
    monkeypatch.setattr("discreet.decision.frontier.strategy.QUICK", quick)
    monkeypatch.setattr("discreet.decision.frontier.decomposable.PATIENCE", 1)  # safe, not largest
    policy, tried = Policy.of(changes | {"bounds.witness_effort": 1 / 60}), 0
    for seed in range(4):
        table = random_table(seed, (2, 3, 3))
        try:
            found = frontier(table, policy=policy)
        except DisclosureError:
            assert not any(_passes(table, [[name]], policy) for name in table.names)
            continue
        decision = decide(table, found.formula, policy)
        assert decision.verdict is found.decision.verdict is not Verdict.FAIL
        tried += 1
    assert tried


@pytest.mark.parametrize("seed", range(3))
def test_quick_and_whole_judge_agree_on_what_fails(seed, monkeypatch):
    """A margin that the shuttle refuses is refused by the rules."""
    table = random_table(seed, (3, 2, 2, 2))
    policy = Policy.of({"small.width": 1, "attribute.share": 0.9, "closeness.share": 0.1})
    brief = Brief(table, policy)
    quick, whole = ShuttleJudge(brief), WholeJudge(brief)
    refused = 0
    for margin in range(1, 16):
        if not quick.add([margin]):
            assert not whole.keeps([*quick.sets, margin])
            refused += 1
    assert refused


def test_all_weight_on_one_margin_puts_it_in():
    table = load("example:czech")
    alone = [m for m in combinations(table.names, 5) if _keeps(table, [m], 3)]
    assert alone
    for margin in alone:
        found = frontier(table, beta=3, weights={margin: 1.0})
        assert found.formula.contains(margin)
        (user,) = found.users
        assert user.share == 1


def _keeps(table, margins, beta):
    release = Release.margins(table, [*margins, *([name] for name in table.names)])
    return bounds(release, table.small()).narrowest >= beta


def test_users_get_more_than_first_come_first_served():
    """Two users want what two others cannot have beside them."""
    table = load("example:czech")
    asked = {
        "First": {"A*B*C*D*E*F": 1, "B*C*D*E*F": 1},
        "Second": {"A*B*C*D": 1, "A*C*D*E": 1},
        "Third": {"A*B*E*F": 1, "A*D*E*F": 1, "B*C*E": 1},
    }
    found = frontier(table, beta=50, weights=asked)
    one_shot = sum(user.share for user in found.users)
    in_turn = sum(user.share for user in found.first_come)
    assert one_shot >= in_turn
    assert found.optimal
    assert [user.name for user in found.users] == list(asked)


@settings(max_examples=25)
@given(st.data())
def test_wishes_are_kept(data):
    table = load("example:czech")
    one = st.integers(1, 63)
    released, banned = data.draw(one, "released"), data.draw(one, "banned")
    order = data.draw(st.integers(2, 6), "max_order")
    beta = data.draw(st.sampled_from([3, 20]), "beta")
    named = {s: Formula(table.names, (s,)).margins for s in (released, banned)}
    try:
        found = frontier(
            table, beta=beta, released=named[released], never=named[banned], max_order=order,
            method=data.draw(st.sampled_from(["best", "greedy"]), "method"),
        )  # fmt: skip
    except DisclosureError:
        assert banned & ~released == 0 or released.bit_count() > order or beta == 20
        return
    closed = closure(found.formula.sets)
    assert released in closed
    assert not any(banned & ~s == 0 for s in closed)
    assert max(s.bit_count() for s in closed) <= order
    release = Release.margins(table, found.formula)
    assert bounds(release, table.small()).narrowest == found.min_width >= beta
    assert found.released == len(closed)


def test_the_margins_of_a_model_that_fits_come_first():
    table = load("example:czech")
    found = frontier(table, beta=3, first="fit")
    assert found.model is not None
    assert all(map(found.formula.contains, found.model.formula.margins))
    assert found.to_json()["model"]["released"] == len(found.model.formula)
    tight = frontier(table, beta=50, first="fit")
    kept = tight.to_json()["model"]
    assert kept["released"] >= 1
    assert bounds(Release.margins(table, tight.formula), table.small()).narrowest >= 50


def test_exchange_improves_or_keeps():
    """By the shuttle alone: what it ends with keeps beta and is worth no less."""
    table = load("example:czech")
    brief = Brief(
        table, Policy.of({"small.width": 20, "attribute.check": False, "published.least": 0})
    )
    judge, worth = ShuttleJudge(brief), []
    grown = grow(judge, brief.gentle_first)
    before = brief.worth(judge.sets)
    tell = lambda: worth.append(brief.worth(judge.sets))  # noqa: E731
    exchange(judge, brief, grown.failed, 30, 1, tell=tell)
    assert worth == sorted(worth)
    assert before <= brief.worth(judge.sets) <= brief.worth(brief.candidates)
    release = Release.margins(table, brief.formula(judge.sets))
    assert bounds(release, table.small(), method="shuttle").narrowest >= 20


def test_the_tradeoff_falls_with_beta():
    found = tradeoff(load("example:czech"), [50, 3, 20, 10_000], methods=["greedy"])
    frame = found.to_frame()
    assert frame["beta"].tolist() == [3, 20, 50]
    assert frame["released"].is_monotonic_decreasing
    assert found.plot().to_dict()
    with pytest.raises(DataError, match="at least one beta"):
        tradeoff(load("example:czech"), [])


@pytest.mark.parametrize("moment", [400, 1000])
def test_a_stopped_search_has_a_valid_answer(monkeypatch, moment):
    """A clock that runs out at its so-manieth look: the set keeps the policy, and says so."""
    set_clock(monkeypatch, 1.0)
    table = load("example:czech")
    found = frontier(table, beta=20, seconds=moment + 0.5)
    assert found.stopped.startswith(f"stopped by the limit of {moment + 0.5:g} seconds: ")
    assert f"has {found.released} margins. Allow more seconds" in found.stopped
    assert found.to_json()["stopped"] == found.stopped
    assert not found.optimal
    assert bounds(Release.margins(table, found.formula), table.small()).narrowest >= 20


def test_a_search_that_is_stopped_before_it_has_a_set_says_so(monkeypatch):
    set_clock(monkeypatch, 1.0)
    with pytest.raises(Stopped, match=r"limit of 1\.5 seconds before there was a set"):
        frontier(load("example:czech"), beta=20, seconds=1.5)


def test_the_same_seed_gives_the_same_answer():
    one, two = (frontier(load("example:czech"), beta=20, seed=4) for _ in range(2))
    assert one.formula.sets == two.formula.sets
    assert one.to_json()["frontier"] == [list(margin) for margin in one.formula.margins]
    assert one.maximal


def test_what_it_refuses():
    with pytest.raises(DataError, match="no method 'guess'"):
        frontier(load("example:tract"), method="guess")
    with pytest.raises(DataError, match="no count of 1 to 2"):
        frontier(Table.of([[9, 9], [9, 9]], A=[0, 1], B=[0, 1]), beta=3)
    with pytest.raises(DisclosureError, match="no margin keeps"):
        frontier(load("example:tract"), beta=1_000)
