"""Dobra, Erosheva & Fienberg 2002: critical widths and disclosure scores of the NLTCS table."""

import numpy as np
import pytest

import discreet as dc
from discreet.table.lattice import closure, maximal

SCORES = {
    1: 1.82, 7: 1.88, 16: 2.84, 8: 2.91, 11: 3.01, 4: 3.15, 10: 3.17, 9: 3.23, 5: 3.24, 2: 3.26,
    6: 3.37, 3: 3.39, 12: 3.52, 14: 3.66, 15: 3.74, 13: 3.85,
}  # fmt: skip


@pytest.fixture(scope="module")
def widths(nltcs):
    return dc.widths(nltcs)


def at(widths, *numbers):
    return widths.of([widths.names[p - 1] for p in numbers])


def test_widths_by_order(widths):
    """The paper counts 36 four-way margins of width 1; there are 76."""
    assert widths.small_cells == 2_228
    assert set(widths.width[widths.order == 1]) == {2_285}
    assert set(widths.width[widths.order == 8]) == {1}
    assert (widths.width[widths.order == 4] == 1).sum() == 76


def test_the_most_problematic_margins(widths):
    """The paper gives 3 for the three-way margins; each has a cell with a single person."""
    assert [at(widths, *m) for m in ([7, 8], [1, 7], [1, 5])] == [8, 64, 82]
    assert [at(widths, *m) for m in ([7, 8, 12], [7, 8, 10], [1, 7, 8])] == [1, 1, 1]
    pairs = [1 << a - 1 | 1 << b - 1 for a, b in ([7, 8], [1, 7], [1, 5])]
    assert list(widths.worst(2, 3)) == pairs


def test_disclosure_scores(widths):
    """Table 1.10, means over 32,768 margins each (printed 32,767), and its three groups."""
    scores = widths.scores()
    found = {widths.names.index(name) + 1: round(s, 2) for name, s in scores.to_json().items()}
    assert found == SCORES
    assert list(found) == list(SCORES)
    assert [len(group) for group in scores.groups()] == [2, 8, 6]


def test_the_greedy_list(widths):
    """Cut after 4,011 margins the list implies three more; the paper prints 4,011 and 1,677."""
    cut = widths.ordered()[:4011]
    three = ([5, 7, 9, 11], [2, 7, 10, 16], [2, 7, 14, 16])
    closed = closure(cut)
    assert len(closed) == 4_014
    assert closed - set(cut) == {sum(1 << p - 1 for p in margin) for margin in three}
    assert len(maximal(cut)) == 1_679


def test_a_superset_is_never_wider(widths):
    width = np.zeros(1 << 16, np.int64)
    width[list(widths.sets)] = widths.width
    for p in range(16):
        halves = width.reshape(-1, 2, 1 << p)
        assert (halves[:, 1] <= halves[:, 0]).ravel()[1:].all()


def test_a_search_with_beta_finds_the_same_list(nltcs, widths):
    some = dc.widths(nltcs, beta=3)
    keep = int((widths.width >= 3).sum())
    assert len(some) < len(widths) / 5
    assert some.ordered()[:keep] == widths.ordered()[:keep]
