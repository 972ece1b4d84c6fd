"""A new vintage, with what is out of the old one."""

import itertools

import numpy as np
import pytest

from discreet.decision.answering import gate
from discreet.decision.answering.desk import Desk
from discreet.decision.answering.trial import trial
from discreet.decision.answering.vintage import Changes, VintageTrial
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.errors import PolicyError
from discreet.table.table import Table

POLICY = Policy.of({"server.rule": "myopic", "bounds.proof": "outer"})
OLD = np.array([[40, 55], [61, 38]])


def two(counts):
    return Table.of(np.asarray(counts), A=["a", "b"], B=["x", "y"])


def changed(more):
    return two(OLD + np.asarray(more))


def test_one_who_came_is_seen_in_any_margin_that_is_out_of_both():
    new = changed([[1, 0], [0, 0]])
    alone = trial(new, POLICY)
    assert alone.verdict([1]) is Verdict.PASS
    for margin in (1, 2, 3):
        both = VintageTrial(alone, [Changes(new, two(OLD), (3,), POLICY)])
        assert both.verdict([margin]) is Verdict.FAIL


def test_one_who_went_is_seen_too():
    assert Changes(changed([[0, 0], [-1, 0]]), two(OLD), (1,), POLICY).verdict([1]) is Verdict.FAIL


def test_what_is_out_of_one_vintage_only_tells_nothing_of_the_changes():
    changes = Changes(changed([[1, 0], [0, 0]]), two(OLD), (1,), POLICY)
    assert changes.verdict([2]) is Verdict.PASS
    assert changes.shared([2]) == ()
    assert changes.shared([3]) == (1,)


def test_many_changes_hide_each_other():
    changes = Changes(changed([[20, 18], [25, 30]]), two(OLD), (1, 2), POLICY)
    assert changes.verdict([1, 2]) is Verdict.PASS
    assert changes.verdict([3]) is Verdict.PASS


def test_no_change_adds_nothing():
    changes = Changes(two(OLD), two(OLD), (3,), POLICY)
    assert changes.parts == ()
    assert changes.verdict([3]) is Verdict.PASS


@pytest.mark.parametrize("shared", [(1,), (2,), (1, 2), (3,)])
def test_small_changes_against_brute_force(shared):
    """2 x 2: every table with the same margins of those who came, and the same of those who went.

    FAIL exactly if a change of 1 or 2 varies by less than beta over these.
    """
    policy = POLICY.change({"attribute.check": False, "published.least": 0, "small.width": 2})
    for more in itertools.product((0, 1, 3), (0, -2), (0, 2), (0, 4)):
        new = changed(np.reshape(more, (2, 2)))
        expected = any(
            narrow(np.maximum(sign * np.reshape(more, (2, 2)), 0), shared, 2) for sign in (1, -1)
        )
        found = Changes(new, two(OLD), shared, policy).verdict(shared)
        assert (found is Verdict.FAIL) == expected


def narrow(side, shared, beta):
    """By listing: does a small count of this side keep less than beta?"""
    seen = {1: lambda t: tuple(t.sum(1)), 2: lambda t: tuple(t.sum(0)), 3: lambda t: tuple(t.flat)}
    fit = [
        table
        for cells in itertools.product(range(side.sum() + 1), repeat=4)
        if sum(cells) == side.sum()
        for table in [np.reshape(cells, (2, 2))]
        if all(seen[s](table) == seen[s](side) for s in shared)
    ]
    width = np.ptp(np.stack(fit), axis=0)
    return bool(((side >= 1) & (side <= 2) & (width < beta)).any())


def test_vintages_have_something_in_common():
    with pytest.raises(PolicyError, match="the new vintage has the variables A, B"):
        Changes(two(OLD), Table.of(OLD, C=["a", "b"], D=["x", "y"]), (1,), POLICY)


def test_variables_and_categories_can_come_and_go():
    """Over what both have; a category that one does not have is a zero of it."""
    wider = Table.of(np.stack([OLD, OLD + 7], -1), B=["a", "b"], A=["x", "y"], C=["p", "q"])
    changes = Changes(wider, Table.of(OLD.T, A=["x", "y"], B=["a", "b"]), (3,), POLICY)
    assert changes.common == ("B", "A")
    assert [part.dense().tolist() for part in changes.parts] == [(OLD + 7).tolist()]
    assert changes.shared([0b101]) == (1,)
    grown = Table.of(np.array([[40, 55, 1], [61, 38, 0]]), A=["a", "b"], B=["x", "y", "z"])
    came = Changes(grown, two(OLD), (2,), POLICY)
    assert [part.total for part in came.parts] == [1]
    assert came.verdict([2]) is Verdict.FAIL
    gone = Changes(two(OLD), grown, (2,), POLICY)
    assert gone.verdict([2]) is Verdict.FAIL
    assert gone.verdict([1]) is Verdict.PASS


def test_every_other_vintage_counts():
    """One came since the oldest vintage, and is seen there; since the newest nothing changed."""
    new = changed([[1, 0], [0, 0]])
    policy = POLICY.change({"server.one_way": False})
    others = [(two(OLD), (3,)), (changed([[1, 0], [0, 0]]), (3,))]
    assert Desk(new, policy, others=others[1:]).ask("A*B").outcome == "granted"
    assert Desk(new, policy, others=others).ask("A*B").outcome == "refused"


def test_supposing_leaves_the_bench_as_it_was():
    new = changed([[20, 18], [25, 30]])
    both = VintageTrial(trial(new, POLICY), [Changes(new, two(OLD), (3,), POLICY)])
    both.take([1])
    with both.supposing([2]):
        assert set(both.out) == {1, 2}
    assert both.out == (1,)
    assert len(both.widths()[0]) == 0


def test_a_desk_with_an_older_vintage():
    policy = POLICY.change({"server.one_way": False})
    new = changed([[1, 0], [0, 0]])
    assert Desk(new, policy).ask("A*B").outcome == "granted"
    assert Desk(new, policy, others=[(two(OLD), (1,))]).ask("A*B").outcome == "refused"
    assert Desk(new, policy, others=[(two(OLD), (1,))]).ask("B").outcome == "granted"


def test_a_static_frontier_is_judged_with_the_older_vintage():
    policy = Policy.of({"server.rule": "static"})
    gate.check(changed([[20, 18], [25, 30]]), (3,), policy, [(two(OLD), (3,))])
    with pytest.raises(gate.NotSafe, match="of those who came or went"):
        gate.check(changed([[1, 0], [0, 0]]), (3,), policy, [(two(OLD), (3,))])


def test_the_simulatable_rule_knows_one_vintage():
    policy = Policy.of({"server.rule": "simulatable"})
    with pytest.raises(PolicyError, match="simulatable"):
        Desk(two(OLD), policy, others=[(two(OLD), (3,))])
