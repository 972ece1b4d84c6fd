"""Cells whose axes stand in another order than the release's: the same intervals and witnesses."""

from itertools import permutations

import numpy as np
import pytest

from discreet.intruder.bounds.bounder import Bounder
from discreet.intruder.bounds.methods import METHODS
from discreet.intruder.bounds.part import Proof
from discreet.release.release import Release
from discreet.table.cells import Cells
from oracle import named

FORMULAS = ["A*B + A*C + B*C", "A*B + B*C", "A*B + C", "A + B + C"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("formula", FORMULAS)
def test_the_order_of_the_axes_changes_nothing(method, formula):
    table = named(np.random.default_rng(5).integers(0, 9, (2, 3, 2)))
    release = Release.margins(table, formula)
    if method == "closed" and not release.formula.is_decomposable:
        return
    natural = table.all()
    for proof in (None, Proof(table, 2)):
        wanted = Bounder(release, method=method).bounds(natural, proof)
        for names in permutations(table.names):
            places = [table.names.index(name) for name in names]
            variables = tuple(table.variables[place] for place in places)
            cells = Cells(variables, natural.codes[:, places], natural.counts)
            found = Bounder(release, method=method).bounds(cells, proof)
            assert found.variables == variables
            for end in ("lower", "upper", "seen_low", "seen_high"):
                assert np.array_equal(getattr(found, end), getattr(wanted, end)), end
            seen = found.seen_high >= found.seen_low
            assert (found.lower <= found.seen_low)[seen].all()
            assert (found.seen_high <= found.upper)[seen].all()
