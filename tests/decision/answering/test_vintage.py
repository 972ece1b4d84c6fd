"""A new vintage, with what is out of the old one."""

import dataclasses
import itertools

import numpy as np
import pytest

from discreet.data.previous import Previous
from discreet.decision.answering import gate
from discreet.decision.answering.desk import Desk
from discreet.decision.answering.relation import Relation, relate
from discreet.decision.answering.trial import trial
from discreet.decision.answering.vintage import Changes, Vintage, VintageTrial, judges
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.errors import LedgerError, PolicyError
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
        judges(two(OLD), [(Table.of(OLD, C=["a", "b"], D=["x", "y"]), (1,))], POLICY)


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


# Those who stayed


LAW = Policy.of(
    {"server.rule": "myopic", "server.one_way": False, "server.approval": "never",
     "attribute.check": False, "published.least": 0, "bounds.proof": "integer"}
)  # fmt: skip


def eight(more=0):
    """All pairs of three variables leave the two small cells a width of 2."""
    counts = np.array([[[1, 6], [7, 5]], [[8, 4], [6, 1]]])
    counts[1, 1, 1] += more
    return Table.of(counts, A=["a", "b"], B=["x", "y"], C=["p", "q"])


def test_what_is_out_of_one_vintage_tells_of_those_who_stayed():
    """A*B and A*C of last year, with B*C of this year: as if all were of this year."""
    year, last = eight(), eight(20)
    out = (0b011, 0b101)
    assert Desk(year, LAW).ask("B*C").outcome == "granted"
    assert Desk(year, LAW, out=out).ask("B*C").outcome == "refused"
    assert Desk(year, LAW, others=[(last, out)]).ask("B*C").outcome == "refused"
    assert Desk(year, LAW, others=[(last, out[:1])]).ask("B*C").outcome == "granted"
    assert Desk(year, LAW, others=[(last, out[:1]), (eight(21), out[1:])]).ask("B*C").outcome == (
        "refused"
    )


def test_a_column_that_was_added_or_has_gone():
    """Without C in last year's data, or in this year's: A*B of the one counts for the other."""
    year, fewer = eight(), eight(20).collapse("C")
    assert Desk(year, LAW, others=[(fewer, (0b11,))], out=(0b101,)).ask("B*C").outcome == "refused"
    assert Desk(year, LAW, others=[(fewer, (0b01,))], out=(0b101,)).ask("B*C").outcome == "granted"
    others = [(eight(20), (0b110, 0b101))]
    assert Desk(year.collapse("C"), LAW, others=others).ask("A*B").outcome == "refused"
    assert Desk(year.collapse("C"), LAW, others=others).ask("A").outcome == "granted"


def test_columns_that_no_vintage_has_together_are_not_granted():
    """Nobody can say what A*B and A*C tell together."""
    others = [(eight(20).collapse("C"), (0b11,))]
    desk = Desk(eight().collapse("B"), LAW, others=others)
    assert desk.ask("A*C").outcome == "refused"
    asked = LAW.change({"server.approval": "review"})
    assert Desk(eight().collapse("B"), asked, others=others).ask("A*C").outcome == "pending"
    with pytest.raises(gate.NotSafe, match="in variables that no vintage has together"):
        gate.check(eight().collapse("B"), (0b11,), LAW, others)


def test_small_counts_of_a_coarser_table_are_guarded_too():
    """In this year's table of three columns A*C is no small count; in last year's of two it was."""
    last = Table.of([[1, 9], [7, 1], [2, 19]], A=["a", "b", "c"], C=["p", "q"])
    year = Table.of(
        [[[2, 1], [0, 8]], [[1, 2], [7, 0]], [[2, 3], [0, 18]]],
        A=["a", "b", "c"], B=["x", "y"], C=["p", "q"],
    )  # fmt: skip
    rules = LAW.change({"small.width": 1})
    assert Desk(year, rules).ask("A*C").outcome == "granted"
    others = [(last, (0b01, 0b10))]
    assert Desk(year, rules, others=others).ask("A*C").outcome == "refused"
    assert Desk(year, rules, others=others).ask("A").outcome == "granted"


def test_a_column_that_holds_two_older_ones_tells_them_together():
    """A*B and A*C of last year, and this year B and C in one column, said to be B alone."""
    last = eight()
    counts = last.dense().reshape(2, 4)
    both = ["x p", "x q", "y p", "y q"]
    year = Table.of(counts, A=["a", "b"], BC=both)
    said = Previous.of({
        "variables": {"BC": "B"}, "ended": ["C"],
        "categories": {"BC": {c: c[0] for c in both}},
    })  # fmt: skip
    relation = relate(axes_of(year), axes_of(last), said)
    for out, outcome in (((0b011, 0b101), "refused"), ((0b011,), "granted")):
        desk = Desk(year, LAW, others=[Vintage(last, out, relation)])
        assert desk.ask("BC").outcome == outcome


def test_columns_of_one_name_in_two_vintages_are_what_was_said_of_them():
    """B is not here any more, and was C in the vintage between."""
    first, between, year = eight().collapse("C"), eight().collapse("B"), eight().collapse("B")
    year = year.margin(["A"])
    between = dataclasses.replace(between, variables=(
        between.variables[0], dataclasses.replace(between.variables[1], name="B"),
    ))  # fmt: skip
    apart = {1: Relation({"A": ("A", {"a": frozenset("a"), "b": frozenset("b")})})}
    others = [
        Vintage(first, (0b11,), number=1, others={}),
        Vintage(between, (0b11,), number=2, others=apart),
    ]
    others[0] = others[0]._replace(others={2: apart[1].reversed()})
    found = [judge.verdict([0b1]) for judge in judges(year, others, LAW)]
    assert Verdict.REVIEW in found
    alone = [judge.verdict([0b1]) for judge in judges(year, others[:1], LAW)]
    assert {*alone} == {Verdict.PASS}


AXES = {"Town": ["Ash", "Birch"], "Sex": ["f", "m"]}


def test_names_that_differ_by_their_writing_are_one():
    found = relate({"town ": ["BIRCH", " ash"], "Sex": ["m", "f"]}, AXES, Previous())
    assert found.variables["town "] == ("Town", {"BIRCH": {"Birch"}, " ash": {"Ash"}})


@pytest.mark.parametrize(
    ("axes", "said", "message"),
    [
        ({"City": ["Ash", "Birch"]}, {}, "not said what City was .* became of its Town, Sex"),
        (
            {"Town": ["Ash"], "Sex": ["f", "m"]},
            {},
            r"said what became of the categories of Town \(",
        ),
        (
            {"Town": ["Ash", "Birch", "Elm"], "Sex": ["f", "m"]},
            {},
            r"said what became of the categories of Town \(",
        ),
        (AXES, {"variables": {"Towm": ""}}, "has 'Towm', and these data have no such name"),
        (AXES, {"variables": {"Town": "Place"}}, "'Place', and the older vintage have no"),
        (AXES, {"categories": {"Town": {"Elm": "Ash"}}}, "'Elm', and these data"),
        (AXES, {"categories": {"Town": {"Ash": "Elm"}}}, "'Elm', and the older vintage"),
        (AXES, {"ended": ["Income"]}, "'Income', and the older vintage"),
        (
            {"Sex": ["f", "m"], "Sexe": ["f", "m"]},
            {"variables": {"Sexe": "Sex"}, "ended": ["Town"]},
            "'Sex' became Sex, Sexe, and a variable can become one only",
        ),
    ],
)
def test_what_is_not_said_is_asked(axes, said, message):
    with pytest.raises(LedgerError, match=message):
        relate(axes, AXES, Previous.of(said))


def test_a_relation_goes_through_what_was_merged_between():
    """Ash and Birch were one in between: through that they may be the same people."""
    first = relate({"Town": ["both"]}, {"Town": ["Ash", "Birch"]}, Previous.of(
        {"categories": {"Town": {"both": ["Ash", "Birch"]}}}
    ))  # fmt: skip
    assert first.then(first.reversed()).variables["Town"][1] == {"both": {"both"}}
    both = {"Ash", "Birch"}
    assert first.reversed().then(first).variables["Town"][1] == {"Ash": both, "Birch": both}


def test_a_split_is_compared_in_what_both_tell():
    """Somebody came to the north of Ash, which is all of Ash that the older vintage tells of."""
    rules = LAW.change({"published.least": 3})
    old = Table.of([[40, 55], [61, 38]], Town=["Ash", "Birch"], Sex=["f", "m"])
    new = Table.of([[20, 30], [21, 25], [61, 38]], Town=["N", "S", "Birch"], Sex=["f", "m"])
    split = Previous.of({"categories": {"Town": {"N": "Ash", "S": "Ash"}}})
    relation = relate(axes_of(new), axes_of(old), split)
    changes = judges(new, [Vintage(old, (0b11,), relation)], rules)
    assert changes[0].verdict([0b11]) is Verdict.FAIL
    assert [part.total for part in changes[0].parts] == [1]
    apart = judges(new, [Vintage(old, (0b11,), None)], rules)[0]
    assert [part.total for part in apart.parts] == [96, 95]


def axes_of(table):
    return {variable.name: variable.categories for variable in table.variables}


def test_nobody_came_to_a_cell_that_is_empty():
    """Of four who went one was ill and one of b: who is of b is ill, and who is ill is of z."""
    left = np.array([[[3, 1], [0, 2]], [[0, 1], [0, 1]], [[0, 0], [0, 0]]])
    gone = np.array([[[3, 0], [0, 0]], [[0, 0], [0, 1]], [[0, 0], [0, 0]]])
    kinds = {"A": ["x", "z", "y"], "B": ["a", "b"], "Ill": ["no", "yes"]}
    old, new = Table.of(left + gone, **kinds), Table.of(left, **kinds)
    rules = LAW.change({"published.least": 0, "small.most": 1, "small.width": 1})
    assert Changes(new, old, (0b101,), rules).verdict([0b101, 0b010]) is Verdict.PASS
    assert Changes(new, old, (0b101, 0b010), rules).verdict([0b101, 0b010]) is Verdict.PASS
    assert Changes(new, old, (0b101, 0b110), rules).verdict([0b101, 0b010]) is Verdict.FAIL
