"""Every alternative is assessed as PASS, and none better is overlooked."""

from itertools import chain, combinations

import numpy as np
from hypothesis import given, settings

from discreet.decision.law.alternatives import alternatives
from discreet.decision.law.assess import assess
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.table.formula import Formula
from discreet.table.lattice import closure, maximal
from discreet.table.load import load
from oracle import named, small_tables


def test_every_offer_for_the_tract_table_passes():
    table = load("example:tract")
    found = assess(table, "Gender*Race*Income")
    assert found.verdict is Verdict.FAIL
    assert {offer.how.split()[0] for offer in found.alternatives} == {"merge", "leave"}
    for offer in found.alternatives:
        coarse = table
        for name, groups in offer.merged.items():
            coarse = coarse.merge(name, groups)
        assert decide(coarse, offer.formula).verdict is Verdict.PASS


@given(small_tables(most_axes=3, most_people=40, most_cells=18))
@settings(max_examples=25)
def test_the_best_subset_is_found(array):
    table, policy = named(array), Policy.of({"alternatives.number": 1, "alternatives.seconds": 600})
    if decide(table, [table.names], policy).verdict is Verdict.PASS:
        return
    subsets = range(1, 1 << array.ndim)
    best = 0
    for sets in chain.from_iterable(combinations(subsets, n) for n in range(1, 5)):
        if maximal(sets) == tuple(sorted(sets, key=lambda s: (-s.bit_count(), s))):
            formula = Formula(table.names, sets)
            if decide(table, formula, policy).verdict is Verdict.PASS:
                best = max(best, len(closure(sets)))
    offers = alternatives(table, Formula.of([table.names], table.names), policy)
    assert (offers[0].decision.utility.released if offers else 0) == best


def test_what_is_out_cannot_be_merged_away():
    table = load("example:tract")
    offers = alternatives(table, "Gender*Race*Income", released="Gender*Income")
    assert offers
    for offer in offers:
        assert not offer.merged
        assert offer.decision.release.formula.contains(["Gender", "Income"])


def test_no_time_no_offers():
    policy = Policy.of({"alternatives.seconds": 0})
    assert alternatives(load("example:tract"), "Gender*Race*Income", policy) == ()
    none = Policy.of({"alternatives.number": 0})
    assert alternatives(load("example:tract"), "Gender*Race*Income", none) == ()


def test_the_assessment_as_a_document():
    document = assess(load("example:tract"), "Race*Income + Income*Gender").to_json()
    assert {"verdict", "reasons", "risk", "utility", "alternatives"} <= set(document)
    assert document["utility"] == {"released": 5, "possible": 7, "by_order": {"1": 3, "2": 2}}
    assert [offer["verdict"] for offer in document["alternatives"]] == ["PASS", "PASS"]
    assert len(document["provenance"]["sha256"]) == 64
    counts = np.array([cell["count"] for cell in document["risk"]["cells"]])
    assert counts.tolist() == [1, 1, 2, 1]
