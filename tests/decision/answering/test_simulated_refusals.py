"""Requests that are decided from what is public."""

import itertools

import numpy as np
import pytest

from discreet.decision.answering.many_tables import ManyTables, fails, table_of
from discreet.decision.answering.public_belief import public_belief
from discreet.decision.answering.simulated_refusals import Simulated
from discreet.decision.law.policy import Policy
from discreet.errors import PolicyError
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.lattice import maximal
from discreet.table.load import load
from discreet.table.table import Table

ONE_WAY = (1, 2, 4)
SHARP = {"bounds.method": "integer"}
WIDTHS = {"attribute.check": False, "published.least": 0, "small.most": 1, "small.width": 1}
LENIENT = Policy.of(WIDTHS | {"server.delta": 0.4, "server.draws": 100})


def cube(counts, shape=(2, 2, 2)):
    names = dict(zip("ABCDEFGH", map(range, shape), strict=False))
    return Table.of(np.reshape(counts, shape), **names)


def state_of(table, out):
    return out, tuple(table.margin(m).dense().tobytes() for m in Formula(table.names, out).margins)


def test_refusals_are_the_same_for_all_tables_that_share_what_is_public():
    """A decision is a function of the released counts: 180 tables, every request of a game."""
    decided, met = {}, 0
    rng = np.random.default_rng(5)
    requests = [3, 5, 6, 7, 3, 6]
    for total in (3, 4, 8):
        for counts in rng.multinomial(total, np.full(8, 1 / 8), 60):
            table, out = cube(counts), ONE_WAY
            simulated = Simulated(table, LENIENT)
            for margin in requests:
                key = (*state_of(table, out), margin)
                if key in decided and rng.random() > 0.3:  # most of those met again are known
                    refuses = decided[key]
                else:
                    refuses = simulated.refusal(out, margin).refuses
                    met += key in decided
                    assert decided.setdefault(key, refuses) == refuses
                if not refuses:
                    out = maximal([*out, margin])
    assert met > 20
    assert set(decided.values()) == {True, False}


def test_true_table_is_seen_only_through_its_released_margins():
    """Two tables of the same one-way margins, one of them with a unique: the very same answer."""
    even, odd = cube([2, 2, 2, 2, 2, 2, 2, 2]), cube([3, 1, 2, 2, 1, 3, 2, 2])
    assert state_of(even, ONE_WAY) == state_of(odd, ONE_WAY)
    for margin in (3, 5, 6, 7):
        one, other = (Simulated(t, LENIENT).refusal(ONE_WAY, margin) for t in (even, odd))
        assert one == other


OUTS = {
    "independent": (1, 2, 4, 8),
    "decomposable": (3, 6, 12),
    "cyclic": (3, 6, 12, 9),
    "all pairs": (3, 5, 9, 6, 10, 12),
    "one uncovered": (3, 4),
}


@pytest.mark.parametrize("name", OUTS)
@pytest.mark.parametrize("attribute", [True, False])
def test_the_quick_way_agrees_with_decide(name, attribute):
    out = OUTS[name]
    rules = {"attribute.check": attribute, "attribute.share": 0.8, "small.width": 4}
    policy = Policy.of(rules | SHARP)
    for seed, margin in enumerate((7, 13, 10)):
        if any(margin & ~s == 0 for s in out):
            continue
        rng = np.random.default_rng(seed)
        counts = rng.multinomial(120, rng.dirichlet(np.full(16, 2.0)))
        table = cube(counts, (2, 2, 2, 2))
        belief = public_belief(Release.margins(table, Formula(table.names, out)), 8)
        screen = ManyTables(table.variables, policy, out, belief.tables[:4], False)
        top = maximal([*out, margin])
        for row, quick in zip(screen.tables, screen.unsafe(margin), strict=True):
            assert quick == fails(table_of(table.variables, row), top, policy)


def test_the_quick_way_agrees_with_decide_on_roles_and_three_categories():
    table = load("example:tract")
    policy = Policy.of({"small.width": 2, "attribute.share": 0.7} | SHARP)
    out = (1, 2, 4)
    belief = public_belief(Release.margins(table, Formula(table.names, out)), 4)
    screen = ManyTables(table.variables, policy, out, belief.tables, belief.exact)
    for margin in (3, 6):
        expected = [fails(table_of(table.variables, t), maximal([*out, margin]), policy)
                    for t in belief.tables]  # fmt: skip
        assert screen.unsafe(margin).tolist() == expected


def test_all_tables_that_fit_give_the_bounds():
    """Listed: the widths are those of the tables that share the answer, as `decide` finds."""
    policy = Policy.of({"small.width": 2} | SHARP)
    table = cube([1, 2, 0, 1, 2, 0, 1, 1])
    belief = public_belief(Release.margins(table, Formula(table.names, ONE_WAY)), 100)
    assert belief.exact
    screen = ManyTables(table.variables, policy, ONE_WAY, belief.tables, True)
    for margin in (3, 7):
        top, unsafe = maximal([*ONE_WAY, margin]), screen.unsafe(margin)
        for row in range(0, len(unsafe), max(1, len(unsafe) // 12)):
            assert unsafe[row] == fails(table_of(table.variables, belief.tables[row]), top, policy)


@pytest.mark.parametrize("out", [(3, 12, 48), (3, 6, 12, 24, 48, 33), (3, 4)])
def test_draws_keep_what_is_out_and_are_the_same_each_time(out):
    table = load("example:czech")
    release = Release.margins(table, Formula(table.names, out))
    belief, again = public_belief(release, 16), public_belief(release, 16)
    np.testing.assert_array_equal(belief.tables, again.tables)
    for row in belief.tables[::4]:
        drawn = table_of(table.variables, row)
        for margin in release.formula.margins:
            assert drawn.margin(margin) == table.margin(margin)


def test_draws_have_the_probabilities_of_the_model():
    """All tables of A + B, by 1 / prod n!: the draws of one cell agree with the listed ones."""
    table = Table.of([[3, 2], [2, 3]], A=[0, 1], B=[0, 1])
    listed = public_belief(Release.margins(table, "A + B"), 10)
    assert listed.exact
    cell = np.bincount(listed.tables[:, 0], listed.mass)
    hypergeometric = [1 / 252, 25 / 252, 100 / 252, 100 / 252, 25 / 252, 1 / 252]
    np.testing.assert_allclose(cell, hypergeometric)


def test_a_request_can_be_granted_and_another_refused():
    """400 draws and delta .05: three standard errors leave room."""
    table = load("example:czech")
    simulated = Simulated(table, Policy())
    first = simulated.refusal(tuple(1 << p for p in range(6)), 3)
    assert not first.refuses
    assert not first.exact
    assert 0 < first.standard_error < 0.01
    out = tuple(63 ^ (1 << p) for p in range(4))
    assert simulated.refusal(out, 63 ^ 16).refuses


def test_the_probability_is_that_of_the_tables_that_fit():
    """By hand: 4 people, margins (2, 2) and (2, 2): [[1, 1], [1, 1]] has 16 of 18 shares."""
    table = Table.of([[2, 0], [0, 2]], A=[0, 1], B=[0, 1])
    policy = Policy.of(WIDTHS | {"server.delta": 0.5})
    found = Simulated(table, policy).refusal((1, 2), 3)
    assert found.exact
    assert found.probability == pytest.approx(4 / 6)
    assert found.refuses


def test_nothing_out_but_the_total():
    found = Simulated(cube([9] * 8), LENIENT).refusal((), 1)
    assert found.probability == 0
    assert not found.refuses


def test_a_policy_with_other_rules_is_judged_by_decide():
    policy = LENIENT.change({"closeness.share": 0.5})
    table = cube([2, 1, 1, 1, 1, 0, 1, 1])
    belief = public_belief(Release.margins(table, Formula(table.names, ONE_WAY)), 100)
    screen = ManyTables(table.variables, policy, ONE_WAY, belief.tables[:20], False)
    top = maximal([*ONE_WAY, 3])
    expected = [fails(table_of(table.variables, t), top, policy) for t in screen.tables]
    assert screen.unsafe(3).tolist() == expected


def test_a_table_that_is_too_large_is_told_to_be_static():
    shape = (2,) * 12
    names = {f"V{place}": [0, 1] for place in range(12)}
    table = Table.of(np.ones(shape, int), **names)
    with pytest.raises(PolicyError, match=r"531,441 sums of 4,096 cells.*static rule"):
        Simulated(table, Policy())
    with pytest.raises(PolicyError, match=r"up to 64 cells, and this one has 128"):
        Simulated(cube([1] * 128, (2,) * 7), Policy.of({"closeness.share": 0.1}))


def test_every_order_of_the_same_grants_leads_to_the_same_state():
    table = cube([3, 1, 4, 1, 5, 2, 6, 5])
    found = set()
    for order in itertools.permutations((1, 2, 4)):
        found.add(Simulated(table, LENIENT).refusal(order, 3))
    assert len(found) == 1
