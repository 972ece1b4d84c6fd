"""Closed-form bounds of decomposable releases."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.keys import Codes


def frechet_bounds(
    release: Release, formula: Formula, codes: Codes
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sharp bounds when the margins are the cliques of a decomposable graph.

        max(0, sum_C n_C - sum_S n_S)  <=  n  <=  min_C n_C

    C cliques, S separators with multiplicity (Theorem 1 of the 2002 paper; Dobra & Fienberg
    2000, PNAS 97:11885). `codes` has a column for each name of `formula`.
    """
    if not formula.sets:
        everybody = np.full(len(codes), release.total or 0, np.int64)
        return everybody, everybody
    lower = np.zeros(len(codes), np.int64)
    for clique in formula.cliques:
        lower += _values(release, formula, clique, codes)
    for separator in formula.separators:
        lower -= _values(release, formula, separator, codes)
    return np.maximum(lower, 0), upper_bounds(release, formula, codes)


def upper_bounds(release: Release, formula: Formula, codes: Codes) -> NDArray[np.int64]:
    """The smallest released count that each cell is part of."""
    upper = np.full(len(codes), release.total or 0, np.int64)
    for margin in formula.margins:
        np.minimum(upper, _values(release, formula, margin, codes), out=upper)
    return upper


def _values(
    release: Release, formula: Formula, margin: tuple[str, ...], codes: Codes
) -> NDArray[np.int64]:
    places = [formula.names.index(name) for name in margin]
    return release.table(margin).lookup(codes[:, places])
