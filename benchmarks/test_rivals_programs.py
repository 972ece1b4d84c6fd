"""Bounds beside scipy: linprog and milp, which are HiGHS too, one program for each end of a cell.

Easy for us where a release has a closed form or bounds of sums settle a cell; programs are what is
left. The rival builds its matrix once, and solves 2 programs a small cell, as its manual shows.
"""

import numpy as np
import pytest
from claims_timing import best
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from discreet.intruder.bounds.bounder import bounds
from discreet.release.release import Release
from discreet.table.load import load

CASES = {
    "tract": "Race*Income + Income*Gender + Race*Gender",
    "czech": "A*B*C + C*D*E + E*F*A + B*D*F",
}


def design(release, table):
    """A row a released sum, a column a cell, and the sums."""
    codes, rows, sums = np.indices(table.shape).reshape(len(table.shape), -1), [], []
    for margin in release.tables:
        places = [table.names.index(name) for name in margin.names]
        key = np.ravel_multi_index(tuple(codes[places]), margin.shape)
        rows.append(key == np.arange(margin.size)[:, None])
        sums.append(margin.dense().ravel())
    return csr_array(np.concatenate(rows).astype(float)), np.concatenate(sums).astype(float)


@pytest.mark.parametrize("kind", ["linear", "integer"])
@pytest.mark.parametrize("example", CASES)
def test_bounds_of_small_cells(claim, example, kind):
    table = load(f"example:{example}")
    release = Release.margins(table, CASES[example])
    small = table.small()
    found, seconds = best(lambda: bounds(release, small, method=kind), 3)
    matrix, sums = design(release, table)
    places = np.ravel_multi_index(tuple(small.codes.astype(np.int64).T), table.shape)

    def end(place, sign):
        cost = np.zeros(table.size)
        cost[place] = sign
        if kind == "linear":
            return sign * linprog(cost, A_eq=matrix, b_eq=sums, method="highs").fun
        equal = LinearConstraint(matrix, sums, sums)
        whole = milp(cost, constraints=equal, integrality=np.ones(table.size), bounds=Bounds(0))
        return sign * whole.fun

    def theirs():
        return [(end(place, 1), end(place, -1)) for place in places]

    known, rival = best(theirs, 1)
    low, high = np.array(known).T
    assert np.array_equal(np.ceil(low - 1e-5), found.lower)
    assert np.array_equal(np.floor(high + 1e-5), found.upper)
    called = "linprog" if kind == "linear" else "milp"
    claim(
        "bounds", f"Small cells of the {example} table, {kind}", ours=seconds,
        rival=f"scipy ({called}, HiGHS)", theirs=rival, size=f"{2 * len(small)} ends",
        why="Each of scipy's programs starts anew; what one of ours finds serves the next.",
    )  # fmt: skip
