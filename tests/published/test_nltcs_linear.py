"""The release of the 2002 paper is safe by linear bounds, and so are larger sets that were found.

`nltcs_frontiers.json` has, for beta 3, 4 and 5, the largest margins that `discreet frontier
example:nltcs --beta B --proof linear` gave; `make bench` finds them anew.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from discreet import Formula, Release
from discreet.intruder.bounds.bounder import Bounder
from discreet.intruder.bounds.part import Part
from discreet.intruder.bounds.projection.reach import reach
from discreet.intruder.bounds.result import Rung, Status
from discreet.table.lattice import closure
from secondlook import reached_by_another

FOUND = json.loads((Path(__file__).parent / "nltcs_frontiers.json").read_text())
PAPER = {3: 4_014, 4: 3_663, 5: 3_366}
pytestmark = pytest.mark.nltcs


def formula(nltcs, sets):
    return Formula(nltcs.names, tuple(sets))


@pytest.fixture(scope="module")
def paper(nltcs):
    return Release.margins(nltcs, formula(nltcs, FOUND["paper"]))


def test_the_narrowest_counts_of_the_paper(nltcs, paper):
    """The 14 counts of shuttle width 3 have exactly [0, 3]: no linear bound narrows them."""
    small = nltcs.small()
    shuttle = Bounder(paper, method="shuttle").bounds(small)
    narrow = small.take(shuttle.width == 3)
    assert len(narrow) == 14
    part = Part(paper)
    projection = part.projection(1 << 30)
    places = np.ravel_multi_index(tuple(narrow.codes.astype(np.int64).T), nltcs.shape)
    low, high = projection.low.ravel()[places], projection.high.ravel()[places]
    found = reach(projection, places, low, high)
    assert found.lower.tolist() == found.fit_low.tolist() == [0] * 14
    assert found.upper.tolist() == found.fit_high.tolist() == [3] * 14


@pytest.mark.slow
def test_a_width_by_linear_bounds_has_its_rung(nltcs, paper):
    cells = nltcs.small().take(slice(0, 2_000, 100))
    found = Bounder(paper, rung=Rung.LINEAR).bounds(cells, width=3)
    assert found.method == "linear"
    assert found.proven(Rung.LINEAR, 3).all()
    assert set(found.status(3)) <= {Status.LINEAR, Status.SHARP}


@pytest.mark.slow
def test_more_than_the_paper(nltcs):
    """A few random counts once more, by other code, in tables that are added up."""
    found = {beta: len(closure(FOUND[str(beta)])) for beta in PAPER}
    assert found == {3: 4_404, 4: 4_028, 5: 3_714}
    assert all(found[beta] > PAPER[beta] for beta in PAPER)
    rows = np.random.default_rng(3).choice(len(nltcs.small()), 4, replace=False)
    assert reached_by_another(nltcs, formula(nltcs, FOUND["3"]), np.sort(rows), 3).all()
