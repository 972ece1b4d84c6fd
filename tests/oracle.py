"""Brute force: every table that fits some margins, and random small cases."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from discreet.release.release import Release
from discreet.table.table import Table


def fibre(table, margins, zeros=()):
    """All non-negative integer arrays with the given margins (tuples of axes) of `table`.

    `zeros` are combinations that nobody has, as mappings from axes to codes.
    """
    shape, cells = table.shape, list(np.ndindex(table.shape))
    left = {axes: _margin(table, axes) for axes in margins}
    last = {axes: {tuple(cell[a] for a in axes): cell for cell in cells} for axes in margins}
    found, current = [], np.zeros(shape, int)

    def place(position):
        if position == len(cells):
            found.append(current.copy())
            return
        cell = cells[position]
        keys = [(axes, tuple(cell[a] for a in axes)) for axes in margins]
        most = min(left[axes][key] for axes, key in keys)
        if any(all(cell[a] == code for a, code in zero.items()) for zero in zeros):
            most = 0
        ends = [left[axes][key] for axes, key in keys if last[axes][key] == cell]
        values = [ends[0]] if ends else range(most + 1)
        if ends and (max(ends) != min(ends) or ends[0] > most):
            return
        for value in values:
            for axes, key in keys:
                left[axes][key] -= value
            current[cell] = value
            place(position + 1)
            for axes, key in keys:
                left[axes][key] += value
        current[cell] = 0

    place(0)
    return np.array(found)


def _margin(table, axes):
    rest = tuple(a for a in range(table.ndim) if a not in axes)
    return table.sum(rest) if rest else table.copy()


def named(array):
    """A Table with axes A, B, C, ... and categories 0, 1, 2, ..."""
    return Table.of(array, **{chr(65 + i): range(n) for i, n in enumerate(array.shape)})


def gap_table():
    """By whole numbers its pairs tell some counts of 1 or 2; fractions leave them a width of 1."""
    array = np.zeros((2,) * 5, int)
    people = "00100 00110 00111 01000 01111 01111 10011 10110 10111 11101"
    np.add.at(array, tuple(np.array([list(map(int, p)) for p in people.split()]).T), 1)
    return named(array)


@st.composite
def small_tables(draw, most_axes=4, most_people=7, most_cells=16):
    """Random small tables of random shapes."""
    shape = draw(
        st.lists(st.integers(1, 3), min_size=2, max_size=most_axes).filter(
            lambda s: np.prod(s) <= most_cells
        )
    )
    size = int(np.prod(shape))
    people = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=most_people))
    return np.bincount(people, minlength=size).reshape(shape)


@st.composite
def releases(draw, axes):
    """A random set of margins, as tuples of axes; not always all variables are covered."""
    subsets = [s for n in range(1, axes + 1) for s in combinations(range(axes), n)]
    return draw(st.lists(st.sampled_from(subsets), min_size=1, max_size=4, unique=True))


@st.composite
def impossible_pairs(draw, table):
    """Some pairs of categories that nobody has, as mappings from axes to codes."""
    empty = [
        {a: int(i), b: int(j)}
        for a, b in combinations(range(table.ndim), 2)
        for i, j in np.argwhere(_margin(table, (a, b)) == 0)
    ]
    return draw(st.lists(st.sampled_from(empty), min_size=1, max_size=6)) if empty else []


def spelled_out(zeros):
    """Mappings from axes to codes as mappings from names to categories."""
    return [{chr(65 + a): str(code) for a, code in zero.items()} for zero in zeros]


def letters(margins):
    """Margins of axes as margins of names."""
    return [[chr(65 + a) for a in axes] for axes in margins]


@st.composite
def released_tables(draw, **sizes):
    """A table, its release with impossible pairs, and all tables that fit."""
    array = draw(small_tables(**sizes))
    margins, zeros = draw(releases(array.ndim)), draw(impossible_pairs(array))
    if zeros and draw(st.integers(0, 3)):  # a margin that shows the pair would leave nothing to say
        one, other = zeros[0]
        apart = {
            tuple(a for a in m if a != draw(st.sampled_from((one, other))))
            if {one, other} <= set(m)
            else m
            for m in margins
        }
        margins = [m for m in apart if m] or margins
    table = named(array).excluding(spelled_out(zeros))
    return table, Release.margins(table, letters(margins)), fibre(array, margins, zeros)
