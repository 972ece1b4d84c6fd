"""Tables with hardly anything in them: one cell, one category, one variable, nobody, huge counts.

Every door gives an answer for them, or a `DisclosureError` that says why not.
"""

import dataclasses

import numpy as np
import pytest

import discreet as dc
from discreet.data.codebook import Role
from discreet.intruder.posterior.chains.markov_bases import minimal_basis

LETTERS = "ABC"
WIDE = np.arange(1000, 1064).reshape(4, 4, 4) * 1000
PAIRS = "A*B + A*C + B*C"


def table_of(array, *roles, **more):
    array = np.asarray(array)
    names = {LETTERS[a]: [f"{a}{c}" for c in range(n)] for a, n in enumerate(array.shape)}
    table = dc.Table.of(array, **names)
    variables = [
        dataclasses.replace(v, role=Role(role))
        for v, role in zip(table.variables, roles, strict=False)
    ]
    rest = table.variables[len(variables) :]
    return dataclasses.replace(table, variables=(*variables, *rest), **more)


# Beliefs about no cell


@pytest.mark.parametrize("key", ["belief.most", "belief.attribute", "belief.true_table"])
def test_beliefs_are_judged_where_no_count_is_small(key):
    policy = dc.Policy.of({key: 0.5, "attribute.check": False})
    found = dc.decide(table_of(WIDE), PAIRS, policy)
    assert found.reasons[-1].rule == "beliefs"
    assert found.risk["belief"]["true_table"] is None  # the chains do not know it


@pytest.mark.parametrize("method", ["chains", "importance sampling", "data augmentation by chains"])
def test_nobody_asks_and_nothing_is_drawn(method):
    small = method != "chains"
    table = table_of([[[11, 10], [12, 14]], [[10, 10], [10, 13]]]) if small else table_of(WIDE)
    release = dc.Release.margins(table, PAIRS)
    model = "A*B*C" if small else "saturated"
    found = dc.posterior(release, table.small(), model=model, method=method, standard_error=0.05)
    assert len(found) == 0
    assert found.to_json()["cells"] == []
    assert len(found.to_frame()) == 0


def test_priors_are_compared_where_no_count_is_small():
    table = table_of([[10, 20], [30, 40]])
    found = dc.beliefs.prior_sensitivity(dc.Release.margins(table, "A + B"), table.small())
    assert (found.most(), len(found.to_frame()), found.to_json()["cells"]) == (0, 0, [])


# One category, one cell


def test_everybody_in_one_cell_is_everybody_in_the_population():
    table = table_of([5])
    (belief,) = dc.posterior(dc.Release.margins(table, "A"), fraction=0.1)
    assert (belief.values.tolist(), belief.mass.tolist()) == ([50], [1.0])
    margin = table_of([[5, 2]])
    release = dc.Release.margins(margin, "A + B")
    (belief,) = dc.posterior(release, margin.margin("A").all(), fraction=0.1)
    assert (belief.values.tolist(), belief.mass.tolist()) == ([70], [1.0])


def test_one_category_has_no_entropy():
    table = table_of([[3, 5]])
    found = dc.knowledge(table, limit=0.5, target="A", uncertainty="entropy")
    assert "1 of 1 beyond the limit" in str(found)


@pytest.mark.parametrize("array", [[[3, 1]], [[3], [1]], [[[3, 1]]], [[[1, 1], [1, 50]]]])
def test_a_table_with_one_category_is_masked(array):
    table = table_of(array)
    made = dc.office.mask(*dc.office.formula_sheets(table, "*".join(table.names)))
    assert made.to_json()["verdict"] != "PASS"  # all have the one category, and it is printed


def test_nothing_is_told_of_one_category_that_no_table_has():
    """All 70 have A 0; the table shows B alone. Where A is printed, that is told."""
    table = table_of([[30, 40]], "sensitive", "identifying")
    assert dc.decide(table, "B").verdict == "PASS"
    assert dc.decide(table, "A*B").verdict == "FAIL"
    assert dc.decide(table, "A + B").verdict == "FAIL"


# Huge counts


@pytest.mark.parametrize("large", [10**9, 2**40, 2**51])
def test_beliefs_of_groups_weigh_only_counts_that_are_possible(large):
    table = table_of([[large, 2], [1, large]])
    found = dc.decide(table, "A*B", dc.Policy.of({"belief.attribute": 0.9}))
    assert found.verdict == "FAIL"
    belief = dc.users.TableBelief(dc.Release.margins(table, "A*B"), dc.users.Model("saturated"))
    assert belief.mass.tolist() == [1.0]


# Work that ends


def test_beliefs_of_groups_whose_tables_cannot_be_listed_are_in_doubt():
    """A merge that `assess` tried made it end as if the input was wrong."""
    policy = dc.Policy.of({"belief.attribute": 0.9})
    tract, pairs = dc.load("example:tract"), "Race*Income + Income*Gender + Gender*Race"
    assert dc.assess(tract, pairs, policy).decision.verdict is dc.Verdict.FAIL
    both = tract.beside("Race", "Coarse", {"White": "w", "Black": "o", "Chinese": "o"})
    found = dc.decide(both, pairs.replace("Race", "Coarse"), policy).reasons[-1]
    assert (found.rule, found.verdict) == ("beliefs", dc.Verdict.REVIEW)
    assert "cannot be listed" in found.text


def test_a_basis_that_has_too_many_moves_is_refused_by_counted_work():
    shape, pairs = (2, 2, 3, 4), [(a, b) for a in range(4) for b in range(a)]
    with pytest.raises(dc.DisclosureError, match=r"too many moves of 4 people.*fewer people"):
        minimal_basis(shape, pairs, 6, effort=0.02)


def test_a_table_of_nobody_has_no_large_count():
    found = dc.frontier(table_of([[0, 0], [0, 0]]), large=2)
    assert found.decision.verdict == "PASS"
