"""Graphs of releases beside networkx: sets of variables as bits of a number, and as sets.

Easy for bits up to some hundred variables, which is what tables have; a set of thousands would be
as long as all vertices.
"""

import random

import networkx as nx
import pytest
from claims_timing import side_by_side

from discreet.table.graph import Graph

GRAPHS = 200


def random_sets(k, rng):
    """Margins of two to five variables, as many as variables."""
    return [sum(1 << p for p in rng.sample(range(k), rng.randint(2, 5))) for _ in range(k // 2)]


def chordal_sets(k, rng):
    """Margins that hang together as a tree: each shares some variables with an earlier one."""
    sets, free = [0b111], 3
    while free < k:
        new = min(rng.randint(1, 3), k - free)
        old = rng.choice(sets)
        members = [p for p in range(k) if old >> p & 1]
        shared = rng.sample(members, rng.randint(1, min(3, len(members))))
        sets.append(sum(1 << p for p in shared) | sum(1 << p for p in range(free, free + new)))
        free += new
    return sets


def both(sets, k):
    graph, rival = Graph.of(sets, k), nx.Graph()
    rival.add_nodes_from(range(k))
    for p, near in enumerate(graph.neighbours):
        rival.add_edges_from((p, q) for q in range(p) if near >> q & 1)
    return graph, rival


def as_sets(cliques):
    return sorted(tuple(p for p in range(c.bit_length()) if c >> p & 1) for c in cliques)


@pytest.mark.parametrize("k", [16, 60])
def test_chordality(claim, k):
    rng = random.Random(k)
    makers = (random_sets, chordal_sets)
    pairs = [both(makers[n % 2](k, rng), k) for n in range(GRAPHS)]
    (found, ours), (known, theirs) = side_by_side(
        lambda: [graph.is_chordal for graph, _ in pairs],
        lambda: [nx.is_chordal(rival) for _, rival in pairs],
    )
    assert found == known
    assert 0 < sum(found) < GRAPHS
    claim(
        "graphs", f"Is a release of {k} variables decomposable?", ours=ours / GRAPHS,
        rival="networkx (is_chordal)", theirs=theirs / GRAPHS, size=f"{k} variables",
        why="A set of variables is one number; both search by maximum cardinality.",
    )  # fmt: skip


def test_cliques(claim):
    rng = random.Random(1)
    pairs = [both(random_sets(60, rng), 60) for _ in range(GRAPHS)]
    (found, ours), (known, theirs) = side_by_side(
        lambda: [graph.cliques() for graph, _ in pairs],
        lambda: [list(nx.find_cliques(rival)) for _, rival in pairs],
    )
    for mine, other in zip(found, known, strict=True):
        assert as_sets(mine) == sorted(tuple(sorted(clique)) for clique in other)
    claim(
        "graphs", "Cliques of a release of 60 variables", ours=ours / GRAPHS,
        rival="networkx (find_cliques)", theirs=theirs / GRAPHS, size="60 variables",
        why="Both pivot as Tomita, Tanaka & Takahashi do.",
    )  # fmt: skip
