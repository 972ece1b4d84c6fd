"""One law: no shortcut passes what `decide` fails, and `decide` passes nothing that is unsafe.

Random tables, roles, releases and policies, against enumeration of all integer tables that fit.
"""

import dataclasses

import numpy as np
import pytest

from discreet.decision.answering.desk import Desk
from discreet.decision.answering.many_tables import ManyTables, fails, quick, table_of
from discreet.decision.answering.trial import ShuttleTrial, WholeTrial
from discreet.decision.frontier import decomposable
from discreet.decision.frontier.brief import Brief
from discreet.decision.frontier.frontier import frontier
from discreet.decision.frontier.judge import ShuttleJudge
from discreet.decision.law import case as law_case
from discreet.decision.law.alternatives import alternatives, decide_merged
from discreet.decision.law.assess import assess
from discreet.decision.law.decide import decide, ruling
from discreet.decision.law.rule import Rule
from discreet.decision.law.rules import register, registered
from discreet.decision.law.verdict import Reason, Verdict
from discreet.errors import DataError, DisclosureError, PolicyError
from discreet.intruder.bounds.result import Rung
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.table import Table
from lawcases import broken, fitting, random_case

CHUNKS, CASES = 12, 250


@pytest.fixture(autouse=True)
def _quick_annealing(monkeypatch):
    """The law asks whether a frontier is safe, not whether it is the largest."""
    monkeypatch.setattr(decomposable, "PATIENCE", 1)


def check_decide(case, rng):
    """PASS only if nothing is broken by enumeration; FAIL only if something is."""
    found = decide(case.table, case.formula, case.policy)
    wrong = broken(case)
    if found.verdict is Verdict.PASS and proven(found):
        assert not wrong, (found, wrong)
    if found.verdict is Verdict.FAIL:
        named = {r.rule for r in found.reasons if r.verdict is Verdict.FAIL}
        assert named <= set(wrong), (found, wrong)


def proven(found):
    """The oracle lists tables of whole numbers: what rests on less may be wrong by them."""
    return found.rung is Rung.INTEGER


def safe(case, sets):
    """Is a release of these margins safe by enumeration, as far as it can be listed?"""
    axes = tuple(tuple(a for a in range(case.array.ndim) if s >> a & 1) for s in sets)
    part = dataclasses.replace(case, margins=axes)
    return fitting(part) is None or not broken(part)


def check_assess(case, rng):
    found = assess(case.table, case.formula, case.policy.change({"alternatives.number": 0}))
    assert found.verdict is decide(case.table, case.formula, case.policy).verdict


def check_frontier(case, rng):
    """In all methods: the verdict is that of `decide`, PASS is safe, and what is proven best is."""
    method = ("best", "greedy", "decomposable")[rng.integers(3)]
    certified = bool(rng.random() < 0.5)
    try:
        found = frontier(
            case.table, policy=case.policy, method=method, certified=certified, seconds=20
        )
    except DisclosureError:
        return
    again = decide(case.table, found.formula, case.policy)
    assert found.decision.verdict is again.verdict
    if again.verdict is Verdict.PASS:
        assert not proven(again) or safe(case, found.formula.sets)
    else:
        assert not certified


def check_huge(case, rng):
    """As if no shuttle of the table fitted."""
    tiny = case.policy.change({"bounds.gigabytes": 1e-12})
    method = ("best", "greedy", "decomposable")[rng.integers(3)]
    try:
        found = frontier(case.table, policy=tiny, method=method, seconds=20)
    except (DataError, DisclosureError):
        return
    again = decide(case.table, found.formula, tiny)
    assert found.decision.verdict is again.verdict
    if again.verdict is Verdict.PASS:
        assert not proven(again) or safe(case, found.formula.sets)


def check_shuttle(case, rng):
    """What the shuttle refuses is unsafe; what its trial grants, `decide` grants."""
    if rng.random() < 0.5:  # where it is not even asked
        quick = {"bounds.method": "shuttle", "bounds.proof": "outer"}
        case = dataclasses.replace(case, policy=case.policy.change(quick))
    brief = Brief(case.table, case.policy)
    judge = ShuttleJudge(brief)
    if not judge.restart(case.sets):
        assert not safe(case, case.sets)
    elif len(case.sets) > 1:
        judge = ShuttleJudge(brief)
        if judge.restart(case.sets[:1]) and not judge.add(case.sets[1:]):
            assert not safe(case, case.sets)
    trial = ShuttleTrial(brief)
    verdict = trial.verdict(case.sets)
    if verdict is Verdict.PASS:
        found = decide(case.table, case.formula, case.policy)
        assert found.verdict is Verdict.PASS
        assert not proven(found) or safe(case, case.sets)


def check_alternatives(case, rng):
    policy = case.policy.change({"alternatives.number": 2, "alternatives.seconds": 20.0})
    formula = Formula(case.table.names, case.sets)
    for offer in alternatives(case.table, formula, policy):
        assert offer.decision.verdict is Verdict.PASS
        if policy.knowledge.target in offer.merged:  # judged on its own categories
            continue
        published = merged_case(case, offer.merged)
        assert not proven(offer.decision) or safe(published, offer.formula.sets)


def check_merged(case, rng):
    """A merged variable, judged on the original categories."""
    axis = int(rng.integers(case.array.ndim))
    variable = case.table.variables[axis]
    group_of = {c: ("x" if code else "y") for code, c in enumerate(variable.categories)}
    if variable.size < 3 or case.table.impossible:
        return
    wanted = Formula(case.table.names, case.sets)
    policy = case.policy.change({"knowledge.target": ""})
    found = decide_merged(case.table, wanted, {variable.name: group_of}, policy)
    if found.verdict is Verdict.PASS and proven(found):
        case = dataclasses.replace(case, policy=policy)
        assert not broken(merged_case(case, {variable.name: group_of}))


def merged_case(case, merged):
    """The case of somebody who has the merged categories only."""
    table, array = case.table, case.array
    for name, group_of in merged.items():
        axis, variable = table.names.index(name), table.variable(name)
        table = table.merge(name, group_of)
        groups = [group_of[category] for category in variable.categories]
        array = np.stack(
            [
                array.compress([own == group for own in groups], axis).sum(axis)
                for group in table.variable(name).categories
            ],
            axis,
        )
    return dataclasses.replace(case, table=table, array=array)


def check_desk(case, rng):
    """Under the data's own rule: what is granted is safe with all that is out."""
    rules = {"server.rule": "myopic", "server.one_way": False, "server.approval": "never"}
    desk = Desk(case.table, case.policy.change(rules))
    for margin in case.sets:
        if desk.ask(margin).outcome == "granted":
            desk.take([margin])
            found = decide(case.table, Formula(case.table.names, desk.out), case.policy)
            assert found.verdict is Verdict.PASS
            assert not proven(found) or safe(case, desk.out), desk.out


def check_ruling(case, rng):
    """The verdict alone, where tables are looked for, is that of `decide` where none are; PASS is
    safe also where `decide` is in doubt."""
    keys = {"bounds.method": "auto", "bounds.witness_seconds": 1.0}
    if rng.random() < 0.5:
        keys["bounds.proof"] = "integer"
    policy = case.policy.change(keys)
    release = Release.margins(case.table, case.formula)
    found = ruling(case.table, release, policy)
    told = decide(case.table, release, policy.change({"bounds.witness_seconds": 0.0}))
    if found is not told.verdict:
        assert (found, told.verdict) == (Verdict.PASS, Verdict.REVIEW)
        case = dataclasses.replace(case, policy=policy.change({"attribute.order": 9}))
    if found is Verdict.PASS and (policy.bounds.proof == "integer" or proven(told)):
        assert not broken(case), (found, told)


def check_screen(case, rng):
    """The simulatable rule's look at many tables at once is that of `decide`, table by table."""
    if case.table.impossible or case.table.total == 0:
        return
    out, margin = case.sets[:-1], case.sets[-1]
    axes = tuple(tuple(a for a in range(case.array.ndim) if s >> a & 1) for s in out)
    tables = fitting(dataclasses.replace(case, margins=axes))
    if tables is None:
        return
    flat = tables.reshape(len(tables), -1)
    some = rng.choice(len(flat), min(3, len(flat)), replace=False)
    policy = case.policy.change({"bounds.proof": "integer", "bounds.method": "integer"})
    drawn = ManyTables(case.table.variables, policy, out, flat[some], False).unsafe(margin)
    listed = drawn
    if quick(
        policy, case.table.variables
    ):  # else it asks `decide` about each by itself, listed or drawn
        listed = ManyTables(case.table.variables, policy, out, flat, True).unsafe(margin)[some]
    top = Formula(case.table.names, (*out, margin)).frontier.sets
    told = [fails(table_of(case.table.variables, flat[row]), top, policy) for row in some]
    assert listed.tolist() == drawn.tolist() == told


CHECKS = {
    check_assess: 0.04,
    check_frontier: 0.08,
    check_huge: 0.03,
    check_shuttle: 0.2,
    check_alternatives: 0.05,
    check_merged: 0.1,
    check_desk: 0.1,
    check_ruling: 0.2,
    check_screen: 0.1,
}


def hold(seed):
    """One case of the law: `decide` against enumeration, and perhaps a shortcut against both."""
    rng = np.random.default_rng(seed)
    case = random_case(rng)
    check_decide(case, rng)
    at, shares = rng.random(), np.cumsum(list(CHECKS.values()))
    if at < shares[-1]:
        plain = random_case(rng, plain=True)
        list(CHECKS)[int(np.searchsorted(shares, at))](plain, rng)


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_the_law_holds(chunk):
    for seed in range(chunk * CASES, (chunk + 1) * CASES):
        try:
            hold(seed)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error


# That the law catches what it is for


def never(case):
    return Reason("never", Verdict.FAIL, "nothing may go.")


TABLE = Table.of([[[9, 8], [7, 9]], [[8, 9], [9, 7]]], A="ab", B="cd", C="ef")


def test_a_rule_that_fails_everything_makes_every_judge_refuse():
    from discreet.decision.law.policy import Policy

    policy = Policy.of({"server.rule": "myopic", "server.one_way": False})
    with registered(Rule("never", never)):
        assert decide(TABLE, "A", policy).verdict is Verdict.FAIL
        assert assess(TABLE, "A", policy).verdict is Verdict.FAIL
        assert alternatives(TABLE, "A*B", policy) == ()
        for method in ("best", "greedy", "decomposable"):
            with pytest.raises(DisclosureError):
                frontier(TABLE, policy=policy, method=method)
            with pytest.raises(DataError, match="under the rules attribute disclosure, never"):
                frontier(TABLE, policy=policy.change({"bounds.gigabytes": 1e-12}), method=method)
        with pytest.raises(DisclosureError):
            frontier(TABLE, beta=1)
        brief = Brief(TABLE, policy)
        assert not ShuttleJudge(brief).restart([1])
        for trial in (WholeTrial(brief), ShuttleTrial(brief)):
            assert trial.verdict([1]) is Verdict.FAIL
        assert Desk(TABLE, policy).ask("A").outcome == "refused"
        simulated = Desk(TABLE, policy.change({"server.rule": "simulatable"}))
        assert simulated.ask("A").outcome == "refused"
    assert decide(TABLE, "A", policy).verdict is Verdict.PASS


def test_a_rule_is_registered_once():
    with registered(Rule("never", never)), pytest.raises(PolicyError, match="already"):
        register(Rule("never", never))


class Blind:
    """Follows nothing."""

    def __init__(self, brief):
        self.brief = brief

    def inside(self, margin):
        return False

    def across(self, shuttle, sets):
        return False

    def unsure(self, sets):
        return False


def fine(case):
    return Reason("fine", Verdict.PASS, "all is well.")


def overlook(tables, found):
    """Looks at no table of the many."""


def passes(case):
    return Verdict.PASS


ALONE = {
    "small": {"attribute.check": False, "published.least": 0, "small.width": 3},
    "attribute": {"attribute.check": True, "published.least": 0, "small.width": 0},
    "published": {"attribute.check": False, "published.least": 5, "small.width": 0},
}


@pytest.mark.parametrize(
    ("name", "check", "changes"),
    [
        *((name, check_decide, {"judge": fine}) for name in ALONE),
        *((name, check_screen, {"many_tables": overlook}) for name in ALONE),
        *((name, check_shuttle, {"follow": Blind}) for name in ("attribute", "published")),
        *((name, check_ruling, {"ruling": passes}) for name in ALONE),
    ],
)
def test_a_broken_rule_or_shortcut_is_caught(name, check, changes, monkeypatch):
    broken_one(monkeypatch, name, **changes)
    rest = {"closeness.share": 0.0, "published.zeros": False}
    assert any(violates(seed, check, ALONE[name] | rest) for seed in range(200))


def test_levels_that_are_not_looked_at_are_caught(monkeypatch):
    monkeypatch.setattr(law_case, "with_levels", lambda table, names: table)
    rest = {"closeness.share": 0.0, "published.zeros": False, "bounds.method": "auto"}
    assert any(violates(seed, check_decide, ALONE["attribute"] | rest) for seed in range(230))


def broken_one(monkeypatch, name, **changes):
    from discreet.decision.law import rules

    shipped = rules._shipped()
    (old,) = [rule for rule in shipped if rule.section == name]
    new = tuple(dataclasses.replace(rule, **changes) if rule is old else rule for rule in shipped)
    monkeypatch.setattr(rules, "_shipped", lambda: new)


def violates(seed, check, keys):
    rng = np.random.default_rng(seed)
    case = random_case(rng, plain=True)
    try:
        check(dataclasses.replace(case, policy=case.policy.change(keys)), rng)
    except AssertionError:
        return True
    return False
