"""Graphs against networkx and brute force."""

import random
from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DisclosureError
from discreet.table.graph import (
    Graph,
    components,
    is_decomposable,
    is_graphical,
)
from discreet.table.lattice import bits, closure, count_by_order, maximal

SQUARE = [0b0011, 0b0110, 0b1100, 0b1001]
PAIRS = [0b011, 0b110, 0b101]


@st.composite
def graphs(draw, most=8):
    k = draw(st.integers(1, most))
    pairs = [1 << i | 1 << j for i, j in combinations(range(k), 2)]
    chosen = draw(st.integers(0, 2 ** len(pairs) - 1))
    return Graph.of([pairs[i] for i in bits(chosen)], k)


@st.composite
def releases(draw, most=6):
    k = draw(st.integers(1, most))
    return maximal(draw(st.lists(st.integers(1, 2**k - 1), min_size=1, max_size=8))), k


def oracle(graph):
    g = nx.Graph()
    g.add_nodes_from(range(len(graph.neighbours)))
    g.add_edges_from((p, q) for p, near in enumerate(graph.neighbours) for q in bits(near))
    return g


def as_set(vertices):
    return sum(1 << p for p in vertices)


def separates(graph, inside, s):
    """Whether taking `s` away leaves the vertices `inside` unconnected."""
    rest = oracle(graph).subgraph(bits(inside & ~s))
    return len(rest) > 1 and not nx.is_connected(rest)


def subsets(s):
    return (as_set(c) for size in range(s.bit_count() + 1) for c in combinations(bits(s), size))


def check_junction_tree(tree, k):
    """A tree, covering, with running intersection and every edge from an earlier node."""
    assert [j for _, j, _ in tree.edges] == list(range(1, len(tree.nodes)))
    assert all(i < j for i, j, _ in tree.edges)
    assert all(tree.nodes[i] & tree.nodes[j] == s for i, j, s in tree.edges)
    covered = 0
    for node in tree.nodes:
        covered |= node
    assert covered == (1 << k) - 1
    for p in range(k):
        holding = sum(node >> p & 1 for node in tree.nodes)
        joined = sum(s >> p & 1 for s in tree.separators)
        assert holding - joined == 1, "the nodes that hold a vertex form one subtree"
    assert len(maximal(tree.nodes)) == len(tree.nodes)


@given(graphs())
def test_chordality_and_cliques_agree_with_networkx(graph):
    g = oracle(graph)
    assert graph.is_chordal == nx.is_chordal(g)
    assert set(graph.cliques()) == {as_set(clique) for clique in nx.find_cliques(g)}
    assert len(set(graph.cliques())) == len(graph.cliques())


@pytest.mark.parametrize(("k", "edges"), [(40, 60), (60, 400), (150, 250), (300, 500)])
def test_large_sparse_graphs_agree_with_networkx(k, edges):
    rng = random.Random(k)
    graph = Graph.of([as_set(rng.sample(range(k), 2)) for _ in range(edges)], k)
    g = oracle(graph)
    assert graph.is_chordal == nx.is_chordal(g)
    assert set(graph.cliques()) == {as_set(clique) for clique in nx.find_cliques(g)}
    filled = graph.minimal_triangulation()
    assert nx.is_chordal(oracle(filled))
    check_junction_tree(graph.prime_components(), k)


@given(graphs(), st.data())
def test_complete_sets(graph, data):
    s = data.draw(st.integers(0, 2 ** len(graph.neighbours) - 1))
    joined = all(graph.neighbours[p] >> q & 1 for p, q in combinations(bits(s), 2))
    assert graph.is_complete(s) == joined


@pytest.mark.parametrize(("k", "number"), [(3, 8), (4, 61), (5, 822), (6, 18_154)])
def test_number_of_decomposable_graphs(k, number):
    """Labelled chordal graphs, OEIS A058862."""
    pairs = [1 << i | 1 << j for i, j in combinations(range(k), 2)]
    found = sum(
        Graph.of([pairs[i] for i in bits(chosen)], k).is_chordal
        for chosen in range(2 ** len(pairs))
    )
    assert found == number


@given(graphs())
def test_minimal_triangulation_is_chordal_and_each_added_edge_is_needed(graph):
    filled = graph.minimal_triangulation()
    assert nx.is_chordal(oracle(filled))
    assert oracle(graph).edges <= oracle(filled).edges
    added = oracle(filled)
    added.remove_edges_from(list(oracle(graph).edges))
    for edge in added.edges:
        fewer = oracle(filled)
        fewer.remove_edge(*edge)
        assert not nx.is_chordal(fewer), "a triangulation is minimal if no edge can go"
    if graph.is_chordal:
        assert filled == graph


@given(graphs())
def test_junction_tree_of_the_cliques(graph):
    k = len(graph.neighbours)
    if not graph.is_chordal:
        with pytest.raises(DisclosureError, match="cycle without a chord"):
            graph.junction_tree()
        return
    tree = graph.junction_tree()
    check_junction_tree(tree, k)
    assert set(tree.nodes) == set(graph.cliques())
    assert sorted(tree.separators) == sorted(graph.separators())


@given(graphs(most=7))
def test_cliques_less_separators_count_each_complete_set_once(graph):
    """The product formula: sum_C [s in C] - sum_S [s in S] = 1 for each complete set s."""
    triangulated = graph.minimal_triangulation()
    cliques, separators = triangulated.cliques(), triangulated.separators()
    for s in closure(cliques):
        assert sum(not s & ~c for c in cliques) - sum(not s & ~t for t in separators) == 1
    sizes = sum(2 ** c.bit_count() for c in cliques) - sum(2 ** t.bit_count() for t in separators)
    assert sizes - 1 == sum(count_by_order(cliques).values())


@given(graphs(most=7))
def test_prime_components_are_prime_maximal_and_split_at_complete_separators(graph):
    k = len(graph.neighbours)
    tree = graph.prime_components()
    check_junction_tree(tree, k)
    assert all(graph.is_complete(s) for s in tree.separators)
    for node in tree.nodes:
        assert not any(graph.is_complete(s) and separates(graph, node, s) for s in subsets(node)), (
            "a component has no complete separator"
        )
    for i, j, s in tree.edges:
        assert separates(graph, tree.nodes[i] | tree.nodes[j], s), "a larger one would be split"
    for p, near in enumerate(graph.neighbours):
        for q in bits(near):
            assert any(node >> p & 1 and node >> q & 1 for node in tree.nodes)


@given(graphs(), st.randoms(use_true_random=False))
def test_prime_components_do_not_depend_on_the_numbering(graph, rng):
    k = len(graph.neighbours)
    order = list(range(k))
    rng.shuffle(order)

    def moved(s):
        return as_set(order[p] for p in bits(s))

    edges = [1 << p | 1 << q for p in range(k) for q in bits(graph.neighbours[p])]
    other = Graph.of(map(moved, edges), k).prime_components()
    tree = graph.prime_components()
    assert set(other.nodes) == set(map(moved, tree.nodes))
    assert sorted(other.separators) == sorted(map(moved, tree.separators))


@given(releases())
def test_graphical_and_decomposable_by_definition(release):
    frontier, k = release
    covered = as_set({p for s in frontier for p in bits(s)})
    graph = Graph.of(frontier, k)
    cliques = {as_set(c) for c in nx.find_cliques(oracle(graph))}
    graphical = {c for c in cliques if c & covered} == set(frontier)
    assert is_graphical(frontier, k) == graphical
    assert is_decomposable(frontier, k) == (graphical and nx.is_chordal(oracle(graph)))


@given(releases())
def test_components_split_at_every_released_separator_and_at_no_other(release):
    frontier, k = release
    graph = Graph.of(frontier, k)
    tree = components(frontier, k)
    check_junction_tree(tree, k)
    known = closure(frontier) | {0}
    assert set(tree.separators) <= known
    assert all(any(not m & ~node for node in tree.nodes) for m in frontier)
    for node in tree.nodes:
        assert not any(s in known and separates(graph, node, s) for s in subsets(node))
    if is_graphical(frontier, k):
        primes = graph.prime_components()
        assert sorted(tree.nodes) == sorted(primes.nodes)
    if is_decomposable(frontier, k):
        assert sorted(tree.nodes) == sorted(graph.cliques())


@given(st.integers(1, 2**8 - 1))
def test_most_parsimonious_models_are_decomposable(margin):
    model = (margin, *(1 << p for p in range(8) if not margin >> p & 1))  # Definition 1.1
    assert is_decomposable(model, 8)
    assert components(model, 8).separators == (0,) * (len(model) - 1)


def test_three_pairs_are_not_graphical_and_not_reducible():
    assert Graph.of(PAIRS, 3).is_chordal
    assert not is_graphical(PAIRS, 3)
    assert not is_decomposable(PAIRS, 3)
    assert len(components(PAIRS, 3).nodes) == 1


def test_a_square_is_graphical_but_not_decomposable():
    assert is_graphical(SQUARE, 4)
    assert not is_decomposable(SQUARE, 4)
    assert components(SQUARE, 4).nodes == (0b1111,)


def test_a_separator_counts_only_when_its_margin_is_released():
    """ABC complete by its pairs alone does not tell D from E; the margin ABC does."""
    spokes = [0b01001, 0b01010, 0b01100, 0b10001, 0b10010, 0b10100]
    assert Graph.of([*PAIRS, *spokes], 5).prime_components().separators == (0b00111,)
    assert components([*PAIRS, *spokes], 5).nodes == (0b11111,)
    assert components([0b00111, *spokes], 5).separators == (0b00111,)


def test_a_variable_in_no_margin_stands_alone():
    tree = components([0b011], 3)
    assert sorted(tree.nodes) == [0b011, 0b100]
    assert tree.separators == (0,)
    assert is_decomposable([0b011], 3)
    assert Graph.of([0b011], 3).cliques() == (0b011, 0b100)


def test_separators_repeat():
    star = Graph.of([0b00011, 0b00101, 0b01001], 5)
    assert star.separators() == (0b1, 0b1, 0)


def test_no_variables():
    empty = Graph.of([], 0)
    assert empty.is_chordal
    assert empty.cliques() == ()
    assert empty.separators() == ()


def test_a_margin_beyond_the_table_is_refused():
    with pytest.raises(DisclosureError, match="variable 3, but the table has only 3"):
        Graph.of([0b1001], 3)
