"""Risk by belief: the measures of section 4, against brute force and in the policy."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

import discreet as dc
from discreet.cli import main
from discreet.data.codebook import Role, Variable
from discreet.decision.frontier.frontier import frontier
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.errors import DataError
from discreet.intruder.posterior.posterior import posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.release.release import Release
from discreet.risk.release.attribute_belief import believed_attributes, groups
from discreet.risk.release.believed_counts import BeliefRisk, belief_risk
from discreet.table.load import load
from discreet.table.table import Table
from oracle import fibre, letters, named, releases, small_tables

TRACT = "Race*Income + Income*Gender"


def nearly_certain():
    """3 of 3 in a row are in a column that has 97 of 100: [0, 3], and 3 is nearly certain."""
    return Table.of([[3, 0], [288, 9]], A=["rare", "common"], B=["most", "few"])


def test_a_wide_interval_with_a_nearly_certain_count_fails():
    table = nearly_certain()
    widths = {"small.most": 3, "small.width": 3, "attribute.check": False, "published.least": 0}
    assert decide(table, "A + B", Policy.of(widths)).verdict == "PASS"
    believed = widths | {"belief.most": 0.9, "belief.model": "A + B"}
    decision = decide(table, "A + B", Policy.of(believed))
    assert decision.verdict == "FAIL"
    exact = math.comb(291, 3) / math.comb(300, 3)
    assert decision.risk["belief"]["most"] == pytest.approx(exact)
    assert exact > 0.9
    reason = decision.reasons[-1]
    assert "has probability 0.912, and the limit is 0.9" in reason.text
    assert reason.cells[0]["cell"] == {"A": "rare", "B": "most"}


def test_the_measures_of_the_tract_table():
    """Three of four guessed right under conditional independence, as the 2003 paper says."""
    table = load("example:tract")
    release = Release.margins(table, TRACT)
    independent = belief_risk(table, release, model=TRACT)
    assert independent.identified() == 3 / 4
    assert independent.identified(0.5) == 1 / 4
    assert independent.true_table == pytest.approx(2.3952e-4, rel=1e-4)
    uniform = belief_risk(table, release, model="uniform")
    assert uniform.true_table == pytest.approx(1 / 59_400)
    assert uniform.entropy == pytest.approx(math.log(59_400))
    assert uniform.surprise == pytest.approx(0, abs=1e-9)
    with_zeros = belief_risk(table, release, model=TRACT, zeros=True)
    assert len(with_zeros.cells) == 6


def test_a_true_table_whose_probability_is_too_small_to_write():
    codes = np.array([*np.ndindex(30, 30)])
    variables = tuple(Variable(name, tuple(map(str, range(30)))) for name in "AB")
    counts = np.random.default_rng(1).integers(1, 90, 900)
    table = Table.from_cells(variables, codes, counts)
    risk = belief_risk(table, Release.margins(table, "A"), model="uniform")
    told = risk.to_json()
    assert told["true_table"] == 0
    # given the sums of 30 lines, each of C(n + 29, 29) divisions is as likely
    sums = counts.reshape(30, 30).sum(1)
    exact = -sum(math.log10(math.comb(int(n) + 29, 29)) for n in sums)
    assert told["true_table_log10"] == pytest.approx(exact)
    small = belief_risk(load("example:tract"), Release.margins(load("example:tract"), TRACT))
    assert 10**small.true_table_log10 == pytest.approx(small.true_table)


@given(st.data(), small_tables(most_people=8, most_cells=12))
@settings(max_examples=40)
def test_brute_force(data, array):
    margins = data.draw(releases(array.ndim))
    table = named(array)
    cells = table.small()
    if not len(cells):
        return
    risk = belief_risk(table, Release.margins(table, letters(margins)), model="uniform")
    tables = fibre(array, margins)
    values = np.array([t[tuple(cells.codes.T)] for t in tables])
    truth = (values == cells.counts).mean(0)
    assert risk.truth == pytest.approx(truth)
    assert risk.people == pytest.approx(float(truth @ cells.counts))
    assert risk.true_table == pytest.approx(1 / len(tables))
    assert 0 <= risk.identified() <= 1


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({"belief.identified": 0.5}, "FAIL"),
        ({"belief.identified": 0.5, "belief.threshold": 0.5}, "PASS"),
        ({"belief.people": 2.0}, "FAIL"),
        ({"belief.people": 3.0}, "PASS"),
        ({"belief.true_table": 1e-4}, "FAIL"),
        ({"belief.true_table": 1e-3}, "PASS"),
        ({"belief.entropy": 8.0}, "PASS"),
        ({"belief.entropy": 9.0}, "FAIL"),
        ({"belief.most": 0.6, "belief.entropy": 9.0}, "FAIL"),
    ],
)
def test_every_limit_decides(change, verdict):
    alone = {
        "small.width": 1,
        "attribute.check": False,
        "published.least": 0,
        "belief.model": TRACT,
    }
    decision = decide(load("example:tract"), TRACT, Policy.of(alone | change))
    assert decision.verdict == verdict


def test_frontier_keeps_a_limit_on_beliefs():
    table = load("example:tract")
    rules = {"small.width": 1, "attribute.check": False, "published.least": 0}
    free = frontier(table, policy=Policy.of(rules), seconds=60)
    policy = Policy.of(rules | {"belief.most": 0.4, "belief.model": "uniform"})
    found = frontier(table, policy=policy, seconds=60)
    assert found.released < free.released
    assert found.decision.risk["belief"]["most"] < 0.4
    assert decide(table, found.formula, policy).verdict == "PASS"


def test_zeros_of_a_large_table_are_refused():
    table = Table.of(np.array([[1, 2], [3, 4]]), A=[0, 1], B=[0, 1])
    release = Release.margins(table, "A + B")
    assert len(belief_risk(table, release, zeros=True).cells) == 2
    wide = load("example:czech")
    assert (
        belief_risk(
            wide, Release.margins(wide, "A*B*C*D*E + B*C*D*E*F"), zeros=True, seconds=20
        ).cells.counts.min()
        == 0
    )


def test_the_command():
    words = ["posterior", "example:tract", "--release", TRACT, "--json"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    first = next(c for c in found["cells"] if c["cell"]["Income"] == "up to $10,000")
    assert first["count"] == 1
    assert first["probabilities"]["1"] == pytest.approx(0.5006, abs=5e-5)
    assert found["models"][0]["model"] == "saturated"
    assert found["diagnostics"]["exact"] is True
    said = CliRunner().invoke(main, words[:-1]).output
    assert "the best guess is right for 1" in said
    wrong = CliRunner().invoke(main, [*words, "--model", "Race*Incme"])
    assert wrong.exit_code == 2
    assert "did you mean 'Income'" in wrong.output


def test_wrong_input_is_a_sentence():
    table = load("example:tract")
    with pytest.raises(DataError, match="contain"):
        belief_risk(table, Release.margins(table, TRACT), model="Race + Income + Gender")


def test_a_group_that_is_believed_to_have_a_category():
    """Nobody is certain, and a rare category makes it probable."""
    table = Table.of([[3, 0], [40, 3]], Town=["A", "B"], Ill=["no", "yes"])
    rules = {"small.width": 1, "belief.model": "Town + Ill"}
    assert decide(table, "Town + Ill", Policy.of(rules)).verdict == "PASS"
    decision = decide(table, "Town + Ill", Policy.of(rules | {"belief.attribute": 0.8}))
    chance = math.comb(43, 3) / math.comb(46, 3)
    (first, *_) = decision.case.believed
    assert first.group == {"Town": "A"}
    assert first.category == "no"
    assert first.probability == pytest.approx(chance)
    assert decision.verdict == "FAIL"
    assert f"has probability {chance:.3f}, and the limit is 0.8" in decision.reasons[-1].text
    assert (
        decide(table, "Town + Ill", Policy.of(rules | {"belief.attribute": 0.9})).verdict == "PASS"
    )
    other = Policy.of(rules | {"belief.attribute": 0.9, "belief.model": "average"})
    assert decide(table, "Town + Ill", other).verdict == "REVIEW"


@given(small_tables(most_people=8, most_cells=12), st.data())
@settings(max_examples=25)
def test_believed_attributes_by_brute_force(array, data):
    margins = data.draw(releases(array.ndim))
    table = named(array)
    release = Release.margins(table, letters(margins))
    found = believed_attributes(table, release, CellWeights.uniform(), share=0.8, order=2)
    tables = fibre(array, margins)
    for belief in found[:20]:
        people = tables[:, *_place(table, belief.group)].reshape(len(tables), -1).sum(1)
        joint = belief.group | {belief.variable: belief.category}
        having = tables[:, *_place(table, joint)].reshape(len(tables), -1).sum(1)
        has = (people > 0) & (having >= 0.8 * people - 1e-9)
        assert belief.probability == pytest.approx(has.mean())


def _place(table, cell):
    return [
        v.categories.index(cell[v.name]) if v.name in cell else slice(None) for v in table.variables
    ]


# Whose cells are looked at


def in_roles(array, roles):
    """A, B, C, ... with these roles."""
    table = named(array)
    variables = [replace(v, role=role) for v, role in zip(table.variables, roles, strict=True)]
    return Table.from_cells(variables, table.codes, table.counts)


def test_small_counts_are_those_of_the_identifying_variables():
    """S splits the small cells of A*B, and does not hide them."""
    array = np.array([[[2, 2], [0, 0]], [[96, 96], [2, 2]]])
    table = in_roles(array, [Role.IDENTIFYING, Role.IDENTIFYING, Role.SENSITIVE])
    rules = {
        "small.most": 4,
        "small.width": 1,
        "attribute.check": False,
        "published.least": 0,
        "belief.most": 0.9,
    }
    for formula in ("A + B", "A + B + C"):
        risk = belief_risk(table, Release.margins(table, formula), at_most=4)
        assert risk.cells.names == ("A", "B")
        assert risk.cells.counts.tolist() == [4, 4]
        exact = math.comb(196, 4) / math.comb(200, 4)
        decision = decide(table, formula, Policy.of(rules | {"belief.model": formula}))
        assert decision.risk["belief"]["most"] == pytest.approx(exact)
        assert exact > 0.9
        assert decision.verdict == "FAIL"


@given(st.data(), st.sampled_from([(2, 2, 2), (2, 2, 3)]))
@settings(max_examples=40)
def test_roles_by_brute_force(data, shape):
    size = math.prod(shape)
    people = data.draw(st.lists(st.integers(0, size - 1), min_size=2, max_size=8))
    array = np.bincount(people, minlength=size).reshape(shape)
    roles = data.draw(st.lists(st.sampled_from(list(Role)), min_size=3, max_size=3))
    margins, zeros = data.draw(releases(3)), data.draw(st.booleans())
    table = in_roles(array, roles)
    risk = belief_risk(table, Release.margins(table, letters(margins)), zeros=zeros, prior=0.7)
    tables = fibre(array, margins)
    logs = (gammaln(tables + 0.7) - gammaln(tables + 1)).sum((1, 2, 3))
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    kept = [axis for axis, role in enumerate(roles) if role.identifies]
    rest = tuple(axis for axis in range(3) if axis not in kept)
    seen = array.sum(rest)
    small = np.argwhere((seen <= 2) & (seen >= 1 - zeros)) if kept else np.zeros((0, 0))
    assert risk.cells.codes.tolist() == small.tolist()
    found = tables.sum(tuple(axis + 1 for axis in rest))
    truth = [chances @ (found[:, *cell] == seen[*cell]) for cell in small]
    assert risk.truth == pytest.approx(np.array(truth), abs=1e-9)
    true = int(np.flatnonzero((tables == array).all((1, 2, 3)))[0])
    assert risk.true_table == pytest.approx(chances[true], abs=1e-9)
    assert risk.entropy == pytest.approx(-chances @ np.log(chances), abs=1e-9)


def test_nobody_is_identified_without_an_identifying_variable():
    table = in_roles(np.array([[1, 2], [3, 4]]), [Role.SENSITIVE, Role.SENSITIVE])
    for zeros in (False, True):
        risk = belief_risk(table, Release.margins(table, "A + B"), zeros=zeros)
        assert len(risk.cells) == 0
        assert (risk.identified(), risk.people) == (0, 0)
        assert risk.true_table == pytest.approx(
            posterior(Release.margins(table, "A + B")).probability_of(table)
        )


def test_groups_are_all_by_the_identifying_variables():
    """Released or not, and everybody."""
    table = in_roles(
        np.array([[[3, 0], [2, 0]], [[4, 0], [9, 1]]]),
        [Role.IDENTIFYING, Role.IDENTIFYING, Role.SENSITIVE],
    )
    assert list(groups(table, 4)) == [(), ("A",), ("B",), ("A", "B")]
    assert list(groups(table, 1)) == [(), ("A",), ("B",)]
    release = Release.margins(table, "A + B + C")
    found = believed_attributes(table, release, CellWeights.uniform(), share=0.9)
    assert {tuple(b.group) for b in found} == {(), ("A",), ("B",), ("A", "B")}
    everybody = next(b for b in found if not b.group)
    assert everybody.probability == pytest.approx(1)
    assert "the 19 in the whole table have C 0" in str(everybody)


def test_a_tied_guess_may_be_right():
    """Four people in a 2 x 2 table with even margins: 0, 1 and 2 are alike (Meek's discussion)."""
    table = named(np.ones((2, 2), int))
    release = Release.margins(table, "A + B")
    found = BeliefRisk(table, table.all(), posterior(release, table.all(), model="uniform"))
    assert found.right.all()
    assert found.identified() == 1


def test_a_tied_guess_is_not_called_wrong():
    release = ("--release", "Race*Income + Income*Gender")
    found = CliRunner().invoke(main, ["posterior", "example:tract", *release, "--model", "uniform"])
    assert "the best guess is right for 4" in found.output
    assert found.output.count("tied") == 4
    assert "wrong" not in found.output


def test_groups_of_a_hierarchy_are_believed_in_where_no_margin_speaks_of_them():
    """Two of three illnesses are a cancer: so much is believed of everybody before any release."""
    book = dc.Codebook.of(
        {"Ill": {"role": "sensitive", "hierarchy": {"lung": "cancer", "skin": "cancer"}}}
    )
    people = [("a", "lung"), ("b", "skin"), ("b", "flu"), ("b", "lung")]
    frame = pd.DataFrame(people, columns=["Town", "Ill"])
    table = dc.load(frame, codebook=book, records=True)
    policy = {"attribute.check": False, "published.least": 0, "small.width": 0}
    for limit, verdict in ((0.6, "FAIL"), (0.7, "PASS")):
        rule = {"belief.attribute": limit, "belief.model": "uniform"}
        found = dc.decide(table, "Town", dc.Policy.of(policy | rule))
        assert str(found.verdict) == verdict
