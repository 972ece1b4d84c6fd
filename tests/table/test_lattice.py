"""The lattice of margins against brute force."""

import random
from collections import Counter
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DisclosureError
from discreet.table import lattice
from discreet.table.lattice import (
    bits,
    children,
    closure,
    count_by_order,
    maximal,
    parents,
)

margins = st.lists(st.integers(1, 2**9 - 1), max_size=12)


def subsets(s):
    """Every non-empty subset, by brute force."""
    places = list(bits(s))
    for size in range(1, len(places) + 1):
        for chosen in combinations(places, size):
            yield sum(1 << p for p in chosen)


def order_counts(sets):
    return dict(sorted(Counter(map(int.bit_count, sets)).items()))


@given(st.sets(st.integers(0, 400)))
def test_bits_are_the_variables_in_order(variables):
    assert list(bits(sum(1 << p for p in variables))) == sorted(variables)


@given(st.integers(0, 2**12 - 1))
def test_children_and_parents_mirror_each_other(s):
    assert all(s in parents(child, 12) for child in children(s))
    assert all(s in children(parent) for parent in parents(s, 12))
    assert len(children(s)) + len(parents(s, 12)) == 12


@given(st.lists(st.integers(0, 2**9 - 1), max_size=40))
def test_frontier_is_what_no_other_set_contains(sets):
    expected = {s for s in sets if not any(s != t and s & ~t == 0 for t in sets)}
    frontier = maximal(sets)
    assert set(frontier) == expected
    assert list(frontier) == sorted(expected, key=lambda s: (-s.bit_count(), s))


@given(margins)
def test_closure_is_every_subset(sets):
    released = closure(sets)
    assert released == {sub for s in sets for sub in subsets(s)}
    assert set(maximal(released)) == set(maximal(sets))


@given(margins)
def test_counts_agree_with_the_closure(sets):
    assert count_by_order(sets) == order_counts(closure(sets))


@given(margins, st.sampled_from([0, 2, 5]), st.sampled_from([0, 40]))
def test_counts_agree_whichever_way_they_are_found(sets, dense, sparse):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice, "DENSE_VARIABLES", dense)
        patch.setattr(lattice, "SPARSE_SUBSETS", sparse)
        assert count_by_order(sets) == order_counts(closure(sets))


def test_one_margin_of_sixty_variables_is_binomials():
    assert count_by_order([2**60 - 1]) == {order: comb(60, order) for order in range(1, 61)}


def test_all_margins_that_leave_one_of_sixty_variables_out():
    everything = 2**60 - 1
    counts = count_by_order(children(everything))
    assert counts == {order: comb(60, order) for order in range(1, 60)}


def test_two_large_margins_share_the_subsets_of_their_overlap():
    a, b = 2**50 - 1, (2**50 - 1) << 30
    assert count_by_order([a, b])[3] == 2 * comb(50, 3) - comb(20, 3)


def test_wide_overlapping_margins_by_inclusion_and_exclusion():
    rng = random.Random(3)
    sets = [sum(1 << p for p in rng.sample(range(80), 50)) for _ in range(5)]
    expected = Counter()
    for size in range(1, 6):
        for chosen in combinations(sets, size):
            shared = (1 << 80) - 1
            for s in chosen:
                shared &= s
            for order in range(1, shared.bit_count() + 1):
                expected[order] += (-1) ** (size - 1) * comb(shared.bit_count(), order)
    assert count_by_order(sets) == {order: n for order, n in sorted(expected.items()) if n}


def test_many_six_way_margins_of_sixteen_variables_are_counted_at_once():
    rng = random.Random(16)
    sets = [sum(1 << p for p in rng.sample(range(16), 6)) for _ in range(1700)]
    counts = count_by_order(sets)
    assert counts == order_counts(closure(sets))


def test_frontier_of_thousands_of_sets_is_quick():
    every_eight = [sum(1 << p for p in chosen) for chosen in combinations(range(16), 8)]
    fewer = [child for s in every_eight[:2000] for child in children(s)]
    assert set(maximal(every_eight + fewer)) == set(every_eight)


def test_nothing_released():
    assert maximal([]) == ()
    assert closure([]) == set()
    assert count_by_order([]) == {}


@pytest.mark.parametrize(
    "frontier", [[2**60 - 1], [(2**20 - 1) << shift for shift in range(0, 80, 10)]]
)
def test_a_closure_too_large_to_list_is_refused(frontier):
    with pytest.raises(DisclosureError, match="more than 5,000,000 margins"):
        closure(frontier)


def test_the_largest_closure_within_the_limit_is_listed(monkeypatch):
    monkeypatch.setattr(lattice, "CLOSURE_LIMIT", 31)
    assert len(closure([0b11111])) == 31
    with pytest.raises(DisclosureError, match="more than 31 margins"):
        closure([0b11111, 0b110000])
