"""How well a decomposable model predicts its clique margins, under a hyper-Dirichlet prior."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.release.doors import of_release
from discreet.release.release import Release
from discreet.table.formula import Formula, as_formula
from discreet.table.table import Table


@of_release
def log_marginal(
    release: Release,
    formula: str | Formula | Iterable[Iterable[str]] | None = None,
    *,
    prior: ArrayLike = 0.5,
) -> float:
    """The log probability of the clique margins of `formula`, by default of the release itself.

        prod_C DM(n_C; a_C) / prod_S DM(n_S; a_S)

    C cliques, S separators, DM the Dirichlet-multinomial distribution; a_C sums the prior of the
    table's cells, one number or an array in the table's shape (Dawid & Lauritzen 1993).

    >>> from discreet.table.load import load
    >>> release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    >>> round(log_marginal(release), 2), round(log_marginal(release, "Race + Income*Gender"), 2)
    (-58.34, -47.33)
    """
    wanted = release.formula if formula is None else as_formula(formula, release.names).frontier
    if not wanted.is_decomposable:
        raise DataError(
            f"{wanted} is not decomposable, so that its marginal likelihood has no closed form; "
            "use bridge or path sampling."
        )
    a = np.asarray(prior, np.float64)
    if not (np.isfinite(a) & (a > 0)).all():
        raise DataError(f"the prior {prior!r} is not above 0 everywhere; give numbers above 0.")
    tree = wanted.junction_tree
    spoken = [names for names in tree.nodes if wanted.contains(names)]
    return sum(_log_mass(release.table(names), release, a) for names in spoken) - sum(
        _log_mass(release.table(names), release, a) for names in tree.separators
    )


def _log_mass(table: Table, release: Release, prior: Floats) -> float:
    """The log Dirichlet-multinomial probability of a margin; empty cells add nothing."""
    from scipy.special import gammaln

    total = table.total
    a, whole = _summed(table, release, prior)
    cells = gammaln(table.counts + a) - gammaln(a) - gammaln(table.counts + 1.0)
    return float(gammaln(total + 1.0) + gammaln(whole) - gammaln(total + whole) + np.sum(cells))


def _summed(table: Table, release: Release, prior: Floats) -> tuple[Floats, float]:
    """The prior of each non-zero cell of a margin, and of all its cells."""
    shape = release.axes.sizes
    size = math.prod(shape)
    if prior.ndim == 0:
        each = float(prior) * size / table.size
        return np.full(len(table), each), float(prior) * size
    if prior.shape != shape:
        raise DataError(
            f"the prior has the shape {prior.shape}, the table {shape}; give one number, or one "
            "for each cell."
        )
    axes = release.axes.places(table.names)
    rest = tuple(axis for axis in range(len(shape)) if axis not in axes)
    margin = prior.sum(rest).transpose(np.argsort(np.argsort(axes)))
    return np.asarray(margin[tuple(table.codes.T)], np.float64), float(prior.sum())
