"""Markov bases: by 4ti2, by reaching every table, and what is said of them."""

from __future__ import annotations

import shutil
from itertools import combinations

import numpy as np
import pytest

import discreet as dc
from discreet.errors import DataError
from oracle import letters, named

PAIRS = [(0, 1), (0, 2), (1, 2)]
CASES = {
    "2 x 3 x 3": ((2, 3, 3), PAIRS, 15, True),
    "2 x 3 x 4": ((2, 3, 4), PAIRS, 42, True),
    "2 x 4 x 4": ((2, 4, 4), PAIRS, 204, True),
    "one move": ((2, 2, 2, 2), list(combinations(range(4), 3)), 1, True),
    "reducible": ((2, 2, 3, 2), [*PAIRS, (2, 3)], 45, True),
    "one category": (
        (2, 1, 3, 2, 2),
        [(0, 2, 3), (1, 2, 3), (0, 2, 4), (2, 3, 4), (1, 4)],
        3,
        True,
    ),
    "four-cycle": ((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3), (0, 3)], 16, False),
    "five-cycle": ((2,) * 5, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)], 120, False),
}


def some_release(shape, margins, people=6, seed=1):
    rng = np.random.default_rng(seed)
    size = int(np.prod(shape))
    table = named(np.bincount(rng.integers(0, size, people), minlength=size).reshape(shape))
    return table, dc.Release.margins(table, letters(margins))


@pytest.mark.parametrize(("shape", "margins", "moves", "known"), CASES.values(), ids=CASES)
def test_as_many_moves_as_4ti2_has(shape, margins, moves, known):
    """Counts of 4ti2 1.6.9; `known` are those whose degree follows from a theorem."""
    table, release = some_release(shape, margins)
    basis = dc.beliefs.markov_basis(release, program="")
    assert len(basis) == moves
    assert basis.complete is known
    assert ("not reached" in basis.why) is not known
    assert basis.joins(table)
    for axes in margins:
        left = tuple(1 + axis for axis in range(len(shape)) if axis not in axes)
        assert not basis.moves.reshape(-1, *shape).sum(left).any()


@pytest.mark.skipif(not shutil.which("4ti2-markov"), reason="4ti2 is not installed")
def test_by_4ti2():
    """All pairs of 2^4: moves of six people, which those of four do not replace."""
    pairs = list(combinations(range(4), 2))
    _, release = some_release((2, 2, 2, 2), pairs)
    basis = dc.beliefs.markov_basis(release)
    assert (len(basis), basis.degree, basis.complete) == (60, 6, True)
    assert "4ti2" in basis.why
    fewer = dc.beliefs.markov_basis(release, program="")
    assert (len(fewer), fewer.complete) == (20, False)
    large = next(move for move in basis.moves if np.maximum(move, 0).sum() == 6)
    apart = named(np.maximum(large, 0).reshape(2, 2, 2, 2))
    assert basis.joins(apart)
    assert not fewer.joins(apart)


def test_chains_reach_all_tables_where_the_moves_do_not():
    """Moves of two people alone join no two tables of the four-cycle's larger move."""
    shape, margins, *_ = CASES["four-cycle"]
    _, release = some_release(shape, margins)
    basis = dc.beliefs.markov_basis(release, degree=4, program="")
    four = next(move for move in basis.moves if np.maximum(move, 0).sum() == 4)
    table = named(np.maximum(four, 0).reshape(shape))
    exact = dc.posterior(dc.Release.margins(table, letters(margins)), method="sum over tables")
    found = dc.beliefs.chain_posterior(dc.Release.margins(table, letters(margins)), moves="basis")
    assert exact.mean == pytest.approx(found.mean, abs=0.05)
    assert exact.mean.max() < 1


def test_what_cannot_be_is_a_sentence():
    _, release = some_release((5, 5, 5), PAIRS)
    with pytest.raises(DataError, match="install 4ti2"):
        dc.beliefs.markov_basis(release, program="")
    table, release = some_release((2, 3, 3), PAIRS)
    with pytest.raises(DataError, match="more is known of single cells"):
        dc.beliefs.markov_basis(release.between({"A": 1, "B": 2, "C": 0}, 0, 3))
    many, release = some_release((2, 3, 3), PAIRS, people=4_000)
    with pytest.raises(DataError, match="ask about a table with fewer"):
        dc.beliefs.markov_basis(release).joins(many)
    assert not table.counts.max() > 6
