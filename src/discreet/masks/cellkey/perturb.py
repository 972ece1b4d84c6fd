"""Counts perturbed by cell keys (Fraser & Wooton 2006)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DataError
from discreet.masks.cellkey.keys import as_fractions
from discreet.masks.cellkey.ptable import PTable
from discreet.masks.masked import Masked
from discreet.sheets.system import System

SAID = (
    "cells are perturbed one by one and need not add up to perturbed totals",
    "nothing is sure: every cell has a distribution",
)
ORDERED = (
    "noises rise with the key, and a total's key is the sum of its cells': together they give more "
    "away than each; shuffle the perturbation table"
)


def cell_key(
    system: System,
    counts: ArrayLike,
    keys: NDArray[np.uint64],
    ptable: PTable,
    *,
    empty: NDArray[np.uint64] | None = None,
    secret: str = "",
) -> Masked:
    """Every printed count plus the noise of its key; the same people, the same noise.

    `keys` are those of the printed rows, `secret` a fingerprint of the seed for the report. Zeros
    stay zero unless the table moves them; there are no people then, and `empty` are keys of the
    cells themselves.

    >>> from discreet.masks.cellkey.keys import record_keys, row_keys
    >>> from discreet.masks.cellkey.ptable import count_ptable
    >>> from discreet.data.codebook import Variable
    >>> from discreet.sheets.grouping import Grouping
    >>> from discreet.sheets.sheet import Sheet
    >>> sex, town = Variable("Sex", ("f", "m")), Variable("Town", ("A", "B", "C"))
    >>> system = System.of([Sheet("1", (Grouping.of(sex), Grouping.of(town)))])
    >>> codes = {"Sex": np.repeat([0, 1], 30), "Town": np.arange(60) % 3}
    >>> keys = row_keys(system, codes, record_keys("sixteen letters!", 60))
    >>> counts = system.sums @ system.fine(codes, np.ones(60))
    >>> cell_key(system, counts, keys, count_ptable(2, 0.9)).shown(system.sheets[0]).tolist()
    [[60.0, 19.0, 20.0, 20.0], [30.0, 10.0, 11.0, 9.0], [31.0, 10.0, 11.0, 10.0]]
    """
    given = np.asarray(counts, np.float64)
    if given.shape != (system.cells,) or keys.shape != given.shape:
        raise DataError(
            f"{given.size:,} counts and {keys.size:,} keys for {system.cells:,} printed cells; "
            "give one of each for each."
        )
    if ptable.moves_zeros:
        if empty is None:
            raise DataError("this perturbation table moves zeros; give empty=empty_keys(...).")
        keys = np.where(given == 0, empty, keys)
    shown = given + ptable.noise(given, as_fractions(keys))
    said = (*SAID, ORDERED) if ptable.ordered else SAID
    parameters = dict(ptable.parameters) | ({"secret": secret} if secret else {})
    return Masked(system, shown, "cell key", parameters, None, True, said)
