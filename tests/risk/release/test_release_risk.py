"""Small counts, closeness and attribute disclosure, from their definitions."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.codebook import Codebook
from discreet.intruder.bounds.bounder import Bounder
from discreet.intruder.bounds.result import Rung
from discreet.release.release import Release
from discreet.risk.release.attribute import attribute_risk
from discreet.risk.release.closeness import closeness
from discreet.risk.release.small import small_cells
from discreet.table.load import load
from discreet.table.table import Table
from oracle import fibre, letters, named, releases, small_tables


def with_roles(table, **roles):
    book = Codebook.of({name: {"role": role} for name, role in roles.items()})
    return Table.read(table.to_frame(zeros=True), count="count", codebook=book)


def test_a_count_that_nobody_can_observe_identifies_nobody():
    table = load("example:tract")
    hidden = with_roles(table, Gender="neither", Race="neither", Income="sensitive")
    release = Release.margins(hidden, "Gender*Race*Income")
    assert len(small_cells(hidden, Bounder(release)).cells) == 0
    seen = with_roles(table, Gender="identifying", Race="identifying", Income="sensitive")
    found = small_cells(seen, Bounder(Release.margins(seen, "Gender*Race*Income")))
    assert [tuple(cell.values()) for cell in found.cells] == [("Female", "Chinese")]
    assert found.narrowest == 0


def test_small_is_what_the_office_says():
    table = load("example:tract")
    release = Release.margins(table, "Race*Income + Income*Gender")
    assert len(small_cells(table, Bounder(release), at_most=1).cells) == 3
    assert len(small_cells(table, Bounder(release), at_most=6).cells) == 6


def test_closeness_is_the_reach_from_the_count():
    table = load("example:tract")
    found = closeness(table, Bounder(Release.margins(table, "Race*Income + Income*Gender")))
    frame = found.cells.to_frame(reach=found.reach).set_index(["Gender", "Race", "Income"])
    assert frame.loc[("Male", "White", "over $25,000"), "reach"] == 8 / 161
    assert found.cells.label(found.below(1)[0])["Race"] == "White"


def test_a_lower_bound_close_to_the_group_discloses():
    """n(b) = 100, n(ab) = 60, n(bc) = 97: at least 57 of the 60 in ab are c."""
    array = np.array([[[58, 2], [5, 5]], [[39, 1], [5, 5]]])
    table = named(array)
    found = attribute_risk(table, Bounder(Release.margins(table, "A*B + B*C")))
    hits = [(d.group, d.category, d.lower, d.size) for d in found.disclosures]
    assert ({"A": "0", "B": "0"}, "0", 57, 60) in hits
    strict = attribute_risk(table, Bounder(Release.margins(table, "A*B + B*C")), share=0.96)
    assert all(d.group != {"A": "0", "B": "0"} for d in strict.disclosures)


def test_only_sensitive_categories_are_disclosed():
    table = Table.of([[97, 3], [50, 50]], Town=["x", "y"], Ill=["no", "yes"])
    book = Codebook.of(
        {"Town": {"role": "identifying"}, "Ill": {"role": "sensitive", "sensitive": ["yes"]}}
    )
    read = Table.read(table.to_frame(), count="count", codebook=book)
    assert attribute_risk(read, Bounder(Release.margins(read, "Town*Ill"))).disclosures == ()
    everything = Bounder(Release.margins(table, "Town*Ill"))
    assert str(attribute_risk(table, everything).disclosures[0]) == (
        "at least 97 of the 100 in x have Ill no"
    )


@given(st.data(), small_tables(most_axes=3))
@settings(max_examples=80)
def test_disclosures_are_those_of_brute_force(data, array):
    """Every (g, c), everybody included: its share of the group in all tables that fit."""
    margins = data.draw(releases(array.ndim))
    table = named(array)
    release = Release.margins(table, letters(margins))
    risk = attribute_risk(table, Bounder(release), share=0.8)
    tables = fibre(array, margins)
    said = {(tuple(d.group.items()), d.variable, d.category) for d in risk.disclosures}
    expected, ruled_out = set(), set()
    told = sorted({a for axes in margins for a in axes})
    groups = [g for n in range(len(told) + 1) for g in combinations(told, n)]
    for group, s in ((g, s) for g in groups for s in told if s not in g):
        for cell in np.ndindex(*(array.shape[a] for a in (*group, s))):
            at = dict(zip((*group, s), cell, strict=True))
            within = tuple(
                at.get(a, slice(None)) if a != s else slice(None) for a in range(array.ndim)
            )
            here = tuple(at.get(a, slice(None)) for a in range(array.ndim))
            size = tables[(slice(None), *within)].reshape(len(tables), -1).sum(1)
            count = tables[(slice(None), *here)].reshape(len(tables), -1).sum(1)
            where = tuple((table.names[a], str(at[a])) for a in group)
            key = (where, table.names[s], str(at[s]))
            if not array[within].sum():
                continue
            if count.max() == 0:
                wider = any(
                    (tuple(w for w in where if w != m), *key[1:]) in ruled_out for m in where
                )
                ruled_out.add(key)
                if not wider:
                    expected.add(key)
            elif (count >= 0.8 * size - 1e-9)[size > 0].all():
                expected.add(key)
    assert said <= expected
    if risk.rung is Rung.INTEGER:
        assert said == expected
