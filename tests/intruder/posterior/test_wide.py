"""53 variables, a decomposable release: closed forms for named cells, draws for far margins."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import hypergeom

import discreet as dc
from discreet.data.codebook import Variable
from discreet.table.table import Table

WIDE, PEOPLE = 53, 400
NAMES = [f"v{place:02d}" for place in range(WIDE)]


@pytest.fixture(scope="module")
def wide() -> tuple[Table, dc.Release]:
    rng = np.random.default_rng(53)
    codes = np.zeros((PEOPLE, WIDE), np.int64)
    for place in range(WIDE):
        before = codes[:, place - 1] if place else rng.integers(0, 2, PEOPLE)
        codes[:, place] = np.where(rng.random(PEOPLE) < 0.7, before, rng.integers(0, 2, PEOPLE))
    variables = tuple(Variable(name, ("no", "yes")) for name in NAMES)
    table = Table.from_cells(variables, codes, np.ones(PEOPLE, np.int64))
    chain = " + ".join(f"{a}*{b}" for a, b in itertools.pairwise(NAMES))
    return table, dc.Release.margins(table, chain)


def test_a_cell_of_all_53_variables(wide: tuple[Table, dc.Release]) -> None:
    """Along a chain the count is a chain of hypergeometric draws: sums over all, written anew."""
    table, release = wide
    cells = table.small().take(np.arange(3))
    found = dc.posterior(release, cells, model=str(release.formula))
    assert found.method == "exact, closed form"
    for row, code in enumerate(cells.codes):
        pairs = [
            table.margin([NAMES[p], NAMES[p + 1]]).dense()[code[p], code[p + 1]]
            for p in range(WIDE - 1)
        ]
        ones = [int(table.margin([NAMES[p]]).dense()[code[p]]) for p in range(WIDE)]
        chances = np.zeros(ones[0] + 1)
        chances[int(pairs[0])] = 1.0
        for p in range(1, WIDE - 1):
            here = np.zeros_like(chances)
            for n in np.flatnonzero(chances):
                k = np.arange(min(n, int(pairs[p])) + 1)
                here[k] += chances[n] * hypergeom.pmf(k, ones[p], int(pairs[p]), n)
            chances = here
        assert found.probability(0)[row] == pytest.approx(chances[0], abs=1e-9)
        assert found.probability(1)[row] == pytest.approx(chances[1], abs=1e-9)


def test_a_margin_across_the_whole_chain_is_drawn(wide: tuple[Table, dc.Release]) -> None:
    """Its mean is a product of conditional shares, whatever the separators do."""
    table, release = wide
    asked = table.margin(["v00", "v40"]).all()
    found = dc.posterior(release, asked, model=str(release.formula), standard_error=0.01)
    assert "independent draws" in found.method
    mean = np.diag(table.margin(["v00"]).dense()).astype(float)
    for p in range(40):
        pair = table.margin([NAMES[p], NAMES[p + 1]]).dense()
        mean = mean @ (pair / pair.sum(1, keepdims=True))
    error = 4 * np.sqrt(PEOPLE) / np.sqrt(2_500)
    assert found.mean == pytest.approx(mean.ravel(), abs=error)
