"""Special uniques: minimal sample uniques and their scores."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DataError
from discreet.risk.uniques.classes import KeyClasses
from discreet.risk.uniques.suda import score, special_of, special_uniques
from discreet.table.table import Table


def brute_force(rows, largest):
    """The minimal sample uniques of each record, straight from the definition."""
    number = len(rows[0])

    def alone(row, places):
        return sum(all(row[p] == other[p] for p in places) for other in rows) == 1

    found = []
    for row in rows:
        sets = [
            places
            for size in range(1, largest + 1)
            for places in itertools.combinations(range(number), size)
            if alone(row, places)
            and not any(
                alone(row, part)
                for less in range(1, size)
                for part in itertools.combinations(places, less)
            )
        ]
        found.append(sets)
    return found


def test_scores_by_hand():
    """Four keys, sets up to 3: a set of 1 scores (4-1)(4-2)(4-3) = 6, of 2 scores 2, of 3 scores 1.

        a b c d
        1 1 1 1   row 1: {a,b} {a,d}; bcd is shared with row 3      2 + 2 = 4
        1 2 1 2   row 2: {a,b} {b,c} {a,d} {b,d}; c, d shared       see below
        2 1 1 1   row 3: {a,b} {a,c} {a,d}; a is shared with row 4
        2 2 2 2   row 4: {c}; {a,b} {a,d}; b and d are shared with row 2

    Row 1: pairs ab (1,1) only row 1; ac (1,1) rows 1, 2; ad (1,1) only row 1; bc rows 1, 3; bd
    rows 1, 3; cd rows 1, 3. Triples without ab and ad: acd has ad; bcd rows 1, 3. Score 4.
    Row 2: ab (1,2) alone; ac rows 1, 2; ad (1,2) alone; bc (2,1) alone; bd (2,2) rows 2, 4;
    cd (1,2) alone. Four pairs: 8.
    Row 3: ab (2,1) alone; ac (2,1) alone; ad (2,1) alone; bc, bd, cd rows 1, 3. Three pairs: 6.
    Row 4: c alone: 6; pairs without c: ab (2,2) alone, ad (2,2) alone, bd rows 2, 4: 4. 10.
    """
    rows = [(1, 1, 1, 1), (1, 2, 1, 2), (2, 1, 1, 1), (2, 2, 2, 2)]
    found = special_uniques(pd.DataFrame(rows, columns=[*"abcd"]), "a,b,c,d", rows=True)
    scores = dict(zip(found.first.tolist(), found.scores.tolist(), strict=True))
    assert scores == {1: 4, 2: 8, 3: 6, 4: 10}
    assert found.by_size == {1: 1, 2: 11, 3: 0}
    assert found.smallest.tolist() == [2, 2, 2, 1]
    # a stands in ab, ad of rows 1, 2, 4 and in three pairs of row 3: 9 of 11 pairs, 18 of 28
    assert found.shares["a"] == pytest.approx(18 / 28)
    assert found.to_json()["special"] == 4


def test_a_set_of_all_keys_scores_one():
    assert score(3, 3, 3) == 1
    assert score(1, 1, 3) == 1
    # no pair is alone in the eight corners of a cube, each corner is
    corners = Table.of(np.ones((2, 2, 2), int), a=range(2), b=range(2), c=range(2))
    found = special_of(KeyClasses(corners), largest=3)
    assert found.by_size == {1: 0, 2: 0, 3: 8}
    assert found.scores.tolist() == [1] * 8
    assert special_of(KeyClasses(corners), largest=2).special == 0


rows_of = st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=2, max_size=20)


@settings(max_examples=50, deadline=None)
@given(rows=rows_of, largest=st.integers(1, 4))
def test_all_minimal_sample_uniques_are_found(rows, largest):
    counts = np.zeros((3, 3, 3, 3), int)
    for row in rows:
        counts[row] += 1
    found = special_of(
        KeyClasses(Table.of(counts, a=range(3), b=range(3), c=range(3), d=range(3))),
        largest=largest,
    )
    truth = {row: sets for row, sets in zip(rows, brute_force(rows, largest), strict=True) if sets}
    for place, cell in enumerate(found.cells.codes.tolist()):
        sets = truth.get(tuple(cell), [])
        assert found.scores[place] == sum(score(len(s), 4, largest) for s in sets)
        sizes = [sum(len(s) == size for s in sets) for size in range(1, largest + 1)]
        assert found.sets[place].tolist() == sizes
    assert found.special == len(truth)


def test_many_categories_are_sorted_not_laid_out():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.integers(0, 60, (2_000, 4)), columns=[*"abcd"])
    found = special_uniques(frame, "a,b,c,d", largest=4, rows=True)
    for row in rng.choice(2_000, 40, replace=False):
        sets = 0
        alone = []
        for size in range(1, 5):
            for places in itertools.combinations(range(4), size):
                if any(set(part) <= set(places) for part in alone):
                    continue
                same = (frame.iloc[:, list(places)] == frame.iloc[row, list(places)]).all(axis=1)
                if same.sum() == 1:
                    alone.append(places)
                    sets += 1
        at = np.flatnonzero(found.first == row + 1)
        assert (found.sets[at].sum() if len(at) else 0) == sets


@settings(max_examples=30, deadline=None)
@given(rows=rows_of, fraction=st.floats(0.01, 1))
def test_dis_laws(rows, fraction):
    """The mean of 1/dis of records with a score is 1/match; a higher score is a higher risk; all
    sampled, every match is right."""
    counts = np.zeros((4, 4, 4, 4), int)
    for row in [*rows, (3, 3, 3, 3)]:
        counts[row] += 1
    classes = KeyClasses(Table.of(counts, a=range(4), b=range(4), c=range(4), d=range(4)))
    found = special_of(classes, fraction=fraction)
    scored = found.scores > 0
    assert (1 / found.dis[scored]).mean() == pytest.approx(1 / found.match)
    assert (found.dis[~scored] == 0).all()
    order = np.argsort(found.scores)
    assert (np.diff(found.dis[order]) >= -1e-12).all()
    assert found.to_frame()["dis"].tolist() == found.dis.tolist()
    assert (special_of(classes).dis[scored] == 1).all()


def test_dis_needs_a_fraction():
    frame = pd.DataFrame({"a": [1, 2, 2], "b": [1, 1, 2]})
    with pytest.raises(DataError, match="fraction is 0"):
        special_uniques(frame, "a,b", fraction=0)
    pairs = pd.DataFrame({"a": [1, 1, 2, 2], "b": [1, 1, 2, 2]})
    assert special_uniques(pairs, "a,b", fraction=0.1).match == 0


def test_too_many_sets_are_refused():
    names = [f"k{place}" for place in range(40)]
    frame = pd.DataFrame(np.eye(40, dtype=int), columns=names)
    with pytest.raises(DataError, match="search smaller sets"):
        special_uniques(frame, names, largest=5)
