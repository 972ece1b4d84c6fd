"""Probabilities of some variables given the others, and who may be in a cell of the copies."""

from __future__ import annotations

import math

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.masks.synthesis.synthesise import Synthetic
from discreet.table.keys import Codes, keys


def places(codes: Codes, axes: list[int], shape: tuple[int, ...]) -> Ints:
    """Where the cells stand among those over some of the axes."""
    return np.asarray(keys(codes[:, axes], [shape[a] for a in axes]), np.int64)


def conditional(
    chances: Floats, codes: Codes, unknown: list[int], shape: tuple[int, ...]
) -> Floats:
    """Cells x values of the unknown axes, given all others.

    >>> conditional(np.array([0.1, 0.3, 0.3, 0.3]), np.array([[0, 0], [1, 0]]), [1], (2, 2))
    array([[0.25, 0.75], [0.5 , 0.5 ]])
    """
    known = [a for a in range(len(shape)) if a not in unknown]
    values = math.prod(shape[a] for a in unknown)
    rows = chances.reshape(shape).transpose([*known, *unknown]).reshape(-1, values)
    given = rows[places(codes, known, shape)]
    sums = given.sum(1, keepdims=True)
    flat = np.full_like(given, 1 / values)  # what the model calls impossible tells nothing
    return np.asarray(np.divide(given, sums, out=flat, where=sums > 0))


def eligible(synthetic: Synthetic, codes: Codes) -> Ints:
    """Who may be in each cell: everybody, or those with its values of the kept variables."""
    if not synthetic.partly:
        return np.full(len(codes), synthetic.total, np.int64)
    table = synthetic.tables[0]
    return table.margin(synthetic.kept).lookup(codes[:, table.axes.places(synthetic.kept)])


def chance_of(chances: Floats, synthetic: Synthetic, codes: Codes) -> Floats:
    """The probability of each cell for somebody who may be in it."""
    table = synthetic.tables[0]
    if not synthetic.partly:
        return np.asarray(chances[places(codes, list(range(codes.shape[1])), table.shape)])
    moved = table.axes.places(synthetic.replaced)
    rows = conditional(chances, codes, moved, table.shape)
    return np.asarray(rows[np.arange(len(codes)), places(codes, moved, table.shape)])
