"""What is only seen in the data makes no verdict milder.

The oracle is the law with the finder switched off, and with everything that was found stated: two
tables of which nobody found anything.
"""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from discreet.cli.main import main
from discreet.decision.answering.desk import Desk
from discreet.decision.answering.vintage import Changes
from discreet.decision.compare.plan import Candidate, Plan
from discreet.decision.compare.tabletrial import try_table
from discreet.decision.frontier.frontier import frontier
from discreet.decision.law.alternatives import alternatives
from discreet.decision.law.decide import decide, passing, ruling
from discreet.decision.law.policy import Policy
from discreet.decision.law.supposing import NAME
from discreet.decision.law.verdict import Verdict
from discreet.errors import DisclosureError
from discreet.release.release import Release
from discreet.table.codings import find_codings
from discreet.table.formula import Formula
from discreet.table.lattice import maximal
from discreet.table.table import Table

SHAPES = ((2, 2), (3, 2), (2, 2, 2), (3, 2, 2), (2, 2, 2, 2))
POLICIES = (
    {},
    {"attribute.exclusion": False},
    {"published.zeros": True, "attribute.check": False},
    {"tables.least": 5, "attribute.share": 0.9},
    {"closeness.share": 0.2},
)


def searched(table):
    """The table with what the finder finds in it."""
    found = find_codings(table.variables, table.codes, table.counts)
    return dataclasses.replace(table, codings=found)


def with_gaps(rng):
    """A random table in which one or two pairs of variables have empty combinations."""
    while True:
        shape = SHAPES[rng.integers(len(SHAPES))]
        array = rng.integers(0, 90, shape)
        array[rng.random(shape) < 0.1] = 1
        for _ in range(rng.integers(1, 3)):
            axes = rng.choice(len(shape), 2, replace=False)
            cell = [slice(None)] * len(shape)
            for axis in axes:
                cell[axis] = rng.integers(shape[axis])
            array[tuple(cell)] = 0
        names = {chr(65 + i): [f"{i}{c}" for c in range(n)] for i, n in enumerate(shape)}
        table = Table.of(array, **names)
        if table.total and searched(table).codings:
            return table


def one_person_moved(rng, table):
    """The same table but for one person, who is in another cell."""
    array = table.dense().copy()
    cells = np.argwhere(array)
    array[tuple(cells[rng.integers(len(cells))])] -= 1
    array[tuple(rng.integers(0, table.shape))] += 1
    return Table.of(array, **{v.name: v.categories for v in table.variables})


def random_margins(rng, table):
    full = (1 << len(table.names)) - 1
    return maximal(int(s) for s in rng.integers(1, full + 1, rng.integers(1, 4)))


def oracle(table, formula, policy):
    """The verdicts if nothing was found, and if all of it was stated."""
    every = dataclasses.replace(searched(table).supposing(), codings=())
    return [decide(each, formula, policy).verdict for each in (table, every)]


def test_no_finding_turns_fail_into_pass():
    rng, seen = np.random.default_rng(5), set()
    for number in range(50):
        table = with_gaps(rng)
        if number % 2:
            table = one_person_moved(rng, table)
        found = searched(table)
        formula = Formula(table.names, random_margins(rng, table))
        policy = Policy.of(POLICIES[number % len(POLICIES)])
        expected = oracle(table, formula, policy)
        strict = max(expected, key=lambda verdict: verdict.rank)
        decision = decide(found, formula, policy)
        assert decision.verdict.rank >= strict.rank, (number, expected, decision)
        assert decide(found.supposing(), formula, policy).verdict is decision.verdict
        alone = ruling(found, Release.margins(found, formula), policy)
        assert alone is Verdict.FAIL or strict is not Verdict.FAIL
        assert (passing(found, formula, policy) is not None) == (decision.verdict is Verdict.PASS)
        for coding in found.codings:  # a finder that finds some of it alone
            some = dataclasses.replace(found, codings=(coding,))
            plain = decide(table, formula, policy).verdict
            assert decide(some, formula, policy).verdict.rank >= plain.rank
        if expected[0] is not expected[1]:
            assert decision.reasons[0].rule == NAME
            assert decision.reasons[0].verdict is decision.verdict
        seen.add(tuple(expected))
    assert len(seen) > 2


def test_what_is_offered_and_granted_passes_without_the_finding():
    rng, offered = np.random.default_rng(7), 0
    for number in range(8):
        table = with_gaps(rng)
        found, policy = searched(table), Policy.of({"server.rule": "myopic"})
        try:
            chosen = frontier(found, policy=policy, certified=bool(number % 2)).formula
            assert not any(v is Verdict.FAIL for v in oracle(table, chosen, policy))
        except DisclosureError:
            pass
        wanted = Formula(table.names, random_margins(rng, table))
        for offer in alternatives(found, wanted, policy):
            assert oracle(table, offer.formula, policy) == [Verdict.PASS] * 2
            offered += 1
        desk = Desk(found, policy)
        for margin in range(1, 1 << len(table.names)):
            if desk.ask(margin).why == "safe":
                out = Formula(table.names, maximal([*desk.out, margin]))
                assert Verdict.FAIL not in oracle(table, out, policy)
    assert offered


def test_what_changed_between_vintages_is_judged_without_the_finding():
    """All who came to Ash are ill; the finding says that nobody can be well there."""
    policy, formula = Policy.of({"server.rule": "myopic"}), maximal([3])
    names = {"Town": ["Ash", "Birch"], "Ill": ["no", "yes"]}
    new, old = Table.of([[0, 83], [164, 80]], **names), Table.of([[0, 40], [84, 40]], **names)
    changes = Changes(searched(new), searched(old), formula, policy)
    assert all(part.codings for part in changes.parts)
    assert changes.verdict(formula) is Verdict.FAIL
    stated = [{"Town": "Ash", "Ill": "no"}]
    known = Changes(new.excluding(stated), old.excluding(stated), formula, policy)
    assert known.verdict(formula) is Verdict.PASS


TOWNS = ["Ash,yes"] * 83 + ["Birch,yes"] * 80 + ["Birch,no"] * 164


@pytest.fixture
def towns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("towns.csv").write_text("\n".join(["Town,Ill", *TOWNS]) + "\n", encoding="utf-8")
    return "towns.csv"


def run(*words):
    return CliRunner().invoke(main, [*words])


def test_all_in_a_town_are_ill(towns):
    """It passed, as what looks like a coding was taken to be known to everybody."""
    done = run("assess", towns, "--release", "Town*Ill", "--json")
    found = json.loads(done.stdout)
    assert (done.exit_code, found["verdict"]) == (1, "FAIL")
    first = found["reasons"][0]
    assert first["rule"] == NAME
    for words in ("Town=Ash, Ill=no", "the verdict is PASS", '--impossible "Town=Ash, Ill=no"'):
        assert words in first["text"]
    table = searched(Table.of([[0, 83], [164, 80]], Town=["Ash", "Birch"], Ill=["no", "yes"]))
    assert str(frontier(table, policy=Policy()).formula) == "Town + Ill"
    desk = Desk(table, Policy.of({"server.rule": "myopic"}))
    assert desk.ask("Town*Ill").outcome == "refused"


@pytest.mark.parametrize(
    ("said", "verdict", "assumed"),
    [
        (["--impossible", "Town=Ash, Ill=no"], "PASS", "public that nobody can have Town=Ash"),
        (["--impossible", "none"], "FAIL", "as was stated, it can occur"),
    ],
)
def test_a_person_settles_it_and_the_verdict_names_it(towns, said, verdict, assumed):
    found = json.loads(run("assess", towns, "--release", "Town*Ill", *said, "--json").stdout)
    assert found["verdict"] == verdict
    assert found["reasons"][0]["rule"] != NAME
    assert any(assumed in sentence for sentence in found["assumptions"])


def test_a_codebook_that_says_within_is_named(towns):
    Path("towns.csv").write_text(
        "\n".join(["Town,Region"] + ["Ash,N"] * 83 + ["Birch,S"] * 80 + ["Elm,S"] * 70) + "\n"
    )
    wanted = ["assess", towns, "--release", "Town*Region", "--json"]
    unsaid = json.loads(run(*wanted).stdout)
    assert unsaid["verdict"] == "FAIL"
    assert 'within = "Region" for Town' in unsaid["reasons"][0]["text"]
    Path("book.toml").write_text('[variables.Town]\nwithin = "Region"\n')
    said = json.loads(run(*wanted, "--codebook", "book.toml").stdout)
    assert said["verdict"] == "PASS"
    assert "By the codebook, Town lies within Region." in said["assumptions"]


def test_a_mask_is_no_pass_where_beliefs_do_not_know_what_was_found():
    """Beliefs about masked tables are those of an intruder who does not know it."""
    table = searched(Table.of([[0, 83], [164, 80]], Town=["Ash", "Birch"], Ill=["no", "yes"]))
    plan = Plan((Candidate("a", ({"method": "margins", "release": "Town + Ill"},)),), of_table=True)
    known = dataclasses.replace(table, codings=())
    doubts = [try_table(each, plan.candidates[0], plan, Policy()).doubt for each in (known, table)]
    assert doubts[0] is None
    assert "look like codings of one thing" in doubts[1]


def test_too_many_to_be_judged_with_is_no_pass(monkeypatch):
    monkeypatch.setattr("discreet.table.codings.MOST_FOUND", 0)
    table = searched(Table.of([[0, 83], [164, 80]], Town=["Ash", "Birch"], Ill=["no", "yes"]))
    decision = decide(table, "Town*Ill", Policy.of({"attribute.check": False}))
    assert decision.verdict is Verdict.REVIEW
    assert "too many to be judged with" in decision.reasons[0].text
