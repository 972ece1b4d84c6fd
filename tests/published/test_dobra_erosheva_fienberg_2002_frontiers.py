"""Dobra, Erosheva & Fienberg 2002: the decomposable frontiers of the 2^16 NLTCS table."""

import pytest

from discreet import Formula
from discreet.table.graph import Graph, components, is_decomposable
from discreet.table.lattice import closure, count_by_order, maximal

BETA_3 = [
    [5, 10, 12, 13, 14, 15, 16],
    [5, 10, 11, 14, 15, 16],
    [9, 10, 12, 13, 14, 15],
    [6, 10, 12, 13, 15, 16],
    [4, 10, 12, 13, 14, 15],
    [4, 8, 10, 12, 13, 14],
    [3, 4, 12, 13, 14, 15],
    [3, 4, 7, 12, 13, 15],
    [2, 12, 13, 14, 15, 16],
    [1, 9, 12, 13, 14, 15],
]
BETA_4 = [
    [6, 9, 12, 13, 15, 16],
    [6, 8, 12, 13, 15, 16],
    [2, 6, 8, 12, 13, 15],
    [2, 6, 11, 12, 13, 15],
    [2, 4, 6, 11, 12, 13],
    [2, 4, 11, 12, 13, 14],
    [2, 4, 6, 10, 12, 13],
    [2, 4, 5, 10, 12, 13],
    [2, 3, 6, 8, 12, 13],
    [1, 8, 12, 13, 15, 16],
    [2, 4, 6, 7, 11],
]
BETA_5 = [  # printed [2,4,6,8,13,15,13] and [4,5,6,12,14,12]: variables 13 and 12 twice
    [6, 8, 10, 14, 15, 16],
    [4, 6, 8, 10, 14, 15],
    [15, 14, 8, 6, 4, 3],
    [3, 4, 6, 8, 13, 15],
    [3, 4, 6, 12, 14, 15],
    [3, 4, 6, 9, 13, 15],
    [2, 4, 6, 8, 13, 15],
    [2, 4, 8, 11, 13, 15],
    [3, 4, 6, 7, 14],
    [4, 5, 6, 12, 14],
    [1, 4, 6, 14, 15],
]

published = pytest.mark.parametrize(
    ("frontier", "released", "by_order"),
    [
        pytest.param(BETA_3, 415, [16, 66, 125, 125, 66, 16, 1], id="1.5"),
        pytest.param(BETA_4, 367, [16, 64, 116, 109, 52, 10], id="1.6"),
        pytest.param(BETA_5, 335, [16, 62, 108, 97, 44, 8], id="1.7"),
    ],
)


def bit_sets(frontier):
    return [sum(1 << p - 1 for p in margin) for margin in frontier]


@published
def test_released_margins_by_dimension(frontier, released, by_order):
    """Tables 1.1 to 1.3."""
    sets = bit_sets(frontier)
    assert count_by_order(sets) == dict(enumerate(by_order, 1))
    assert len(closure(sets)) == released


@published
def test_the_frontiers_are_decomposable(frontier, released, by_order):
    sets = bit_sets(frontier)
    assert len(maximal(sets)) == len(frontier)
    assert is_decomposable(sets, 16)
    tree = components(sets, 16)
    assert set(tree.nodes) == set(sets) == set(Graph.of(sets, 16).cliques())
    inside = sum(2 ** s.bit_count() for s in sets)
    assert inside - sum(2 ** s.bit_count() for s in tree.separators) - 1 == released


@published
def test_as_formulas(frontier, released, by_order):
    text = " + ".join("*".join(map(str, margin)) for margin in frontier)
    formula = Formula.parse(text, map(str, range(1, 17)))
    assert formula.is_decomposable
    assert sum(formula.by_order().values()) == len(formula.closure()) == released
    assert len(formula.separators) == len(frontier) - 1
