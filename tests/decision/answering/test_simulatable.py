"""Rules that decide from what is public: their refusals change no belief."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.decision.answering.simulatable import (
    policy_rule,
    simulatable_refuses,
    simulatable_rule,
)
from discreet.decision.law.policy import Policy
from discreet.errors import DataError
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.refusals.refusals import refusal_posterior
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.table import Table
from oracle import fibre, letters, named, releases, small_tables

ONES = named(np.ones((2, 2), int))
DELTAS = (0.0, 0.1, 0.5)


def unique(table, request):
    return any(1 in table.margin(names).counts for names in request.margins)


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_two_by_two_keeps_all_three_tables(delta):
    """Where the other rule leaves one table (Meek's discussion of the 2003 paper)."""
    public = Release.margins(ONES, "A + B")
    refusal = simulatable_refuses(public, "A*B", unique, delta=delta)
    assert refusal.refuses
    assert refusal.probability == pytest.approx(2 / 11)
    found = refusal_posterior(public, "A*B", simulatable_rule(public, unique, delta=delta))
    assert found.tables == (3, 3)
    assert found.told == 0
    assert np.array_equal(found.after.matrix(), found.before.matrix())


def test_two_by_two_is_granted_above_its_probability():
    public = Release.margins(ONES, "A + B")
    granted = simulatable_refuses(public, "A*B", unique, delta=0.2)
    assert not granted.refuses
    assert repr(granted) == (
        "Refusal(granted: unsafe with probability 0.1818, exact, where 0.2 is allowed)"
    )


@settings(max_examples=40)
@given(data=st.data())
def test_the_decision_is_the_same_for_every_table_that_fits(data):
    """So a refusal leaves every belief as it was; that of a rule that sees the table need not."""
    array = data.draw(small_tables(most_axes=3, most_people=5, most_cells=8))
    margins = data.draw(releases(array.ndim))
    tables = fibre(array, margins)
    assume(1 < len(tables) <= 60)
    public = Release.margins(named(array), letters(margins))
    request = Formula.of([public.names], public.names)
    share = np.mean([unique(named(table), request) for table in tables])
    for delta in DELTAS:
        decisions = {
            simulatable_refuses(
                Release.margins(named(table), letters(margins)), request, unique, delta=delta,
                weights=CellWeights.uniform(),
            ).refuses
            for table in tables
        }  # fmt: skip
        assert decisions == {bool(share > delta)}
        if share > delta:
            rule = simulatable_rule(public, unique, delta=delta, weights=CellWeights.uniform())
            found = refusal_posterior(public, request, rule)
            assert found.told == 0
            assert np.array_equal(found.after.matrix(5), found.before.matrix(5))


def test_the_strict_version_refuses_nearly_everything():
    """Of 60 random tables of 12 people in 2 x 3 cells, with both margins out."""
    rng, refused = np.random.default_rng(5), dict.fromkeys(DELTAS, 0)
    sees = 0
    for _ in range(60):
        table = named(rng.multinomial(12, rng.dirichlet(np.full(6, 2.0))).reshape(2, 3))
        public = Release.margins(table, "A + B")
        sees += unique(table, Formula.parse("A*B", public.names))
        for delta in DELTAS:
            refused[delta] += simulatable_refuses(public, "A*B", unique, delta=delta).refuses
    assert refused[0.0] >= 57
    assert refused[0.0] >= refused[0.1] >= refused[0.5]
    assert sees < 50


def test_draws_count_with_three_standard_errors():
    public = Release.margins(ONES, "A + B")
    how = {"limit": 1, "draws": 2_000, "weights": CellWeights.multinomial()}
    refusal = simulatable_refuses(public, "A*B", unique, delta=0.6, **how)
    assert not refusal.exact
    assert refusal.probability == pytest.approx(2 / 3, abs=4 * refusal.standard_error)
    assert refusal.refuses
    near = simulatable_refuses(public, "A*B", unique, delta=0.67, **how)
    assert near.refuses  # not sure to be below
    assert not simulatable_refuses(public, "A*B", unique, delta=0.72, **how).refuses
    # no unsafe draw proves nothing
    strict = simulatable_refuses(public, "A*B", lambda table, request: False, delta=0.0, **how)
    assert strict.refuses
    assert strict.probability == 0
    assert "±" in repr(strict)


def test_a_policy_as_a_rule():
    """It fails a table with a narrow small count, and its refusal tells that there is one."""
    table = Table.of([[1, 3], [3, 3]], A=[0, 1], B=[0, 1])
    public = Release.margins(table, "A + B")
    rule = policy_rule(Policy.of({"attribute.check": False, "published.least": 0}), public)
    joint = Formula.parse("A*B", public.names)
    assert rule(table, joint)
    assert not rule(named(np.array([[4, 0], [0, 6]])), joint)
    found = refusal_posterior(public, "A*B", rule)
    kept = [t for t in fibre(table.dense(), [(0,), (1,)]) if ((t > 0) & (t < 3)).any()]
    assert found.tables == (5, len(kept))
    assert found.told > 0
    quiet = simulatable_rule(public, rule, delta=0.2)
    assert refusal_posterior(public, "A*B", quiet).told == 0


def test_what_is_known_besides_counts():
    public = Release.margins(ONES, "A + B").insider({"A": 0, "B": 0}, 1)
    refusal = simulatable_refuses(public, "A*B", unique, delta=0.5)
    assert refusal.probability == 1
    assert refusal_posterior(public, "A*B", policy_rule(None, public)).tables == (1, 1)


@pytest.mark.parametrize("delta", [-0.1, 1.0, float("nan")])
def test_a_wrong_delta(delta):
    with pytest.raises(DataError, match="delta is"):
        simulatable_refuses(Release.margins(ONES, "A + B"), "A*B", unique, delta=delta)
