"""Proportional fitting beside R: loglin, and ipf of the package cat.

Easy for all, because margins are given; hard on the disability table, where each of 120 margins is
summed from 65,536 cells in every round. All stop where fitted margins are within 1e-4 people.
"""

from itertools import combinations

import numpy as np
import pytest
from claims_r import in_r, needs_r
from claims_timing import best

from discreet.models.loglinear import LogLinear
from discreet.table.formula import Formula
from discreet.table.load import load

EXACT = 1e-4  # people

LOGLIN = """
x <- array(scan("counts", quiet = TRUE), c({sizes}))
margins <- list({margins})
work <- function() loglin(x, margins, fit = TRUE, eps = {eps}, iter = 1000, print = FALSE)$fit
cat(timed(work, {times}), "\\n")
write(work(), "fit", ncolumns = 1)
"""
CAT = """
library(cat)
x <- array(scan("counts", quiet = TRUE), c({sizes}))
margins <- c({zeros})
work <- function() ipf(x, margins, eps = {eps}, maxits = 1000, showits = FALSE)
cat(timed(work, {times}), "\\n")
write(work(), "fit", ncolumns = 1)
"""


def cases(name, nltcs):
    if name == "disability":
        return nltcs, list(combinations(nltcs.names, 2)), 1
    table = load(f"example:{name}")
    return table, list(combinations(table.names, 2)), 5


@pytest.mark.parametrize("package", ["stats", "cat"])
@pytest.mark.parametrize("example", ["tract", "czech", "disability"])
def test_all_pairs(claim, nltcs, tmp_path, example, package):
    needs_r(claim, package)
    table, margins, times = cases(example, nltcs)
    model = LogLinear(Formula.of(margins, table.names))
    found, seconds = best(
        lambda: model.fit(table, tolerance=EXACT / table.total).expected_array(), times
    )
    (tmp_path / "counts").write_text("\n".join(map(str, table.dense().ravel(order="F"))))
    places = [[table.names.index(name) + 1 for name in margin] for margin in margins]
    joined = [",".join(map(str, margin)) for margin in places]
    (said,) = in_r(
        (LOGLIN if package == "stats" else CAT).format(
            sizes=",".join(map(str, table.shape)), times=times, eps=EXACT,
            margins=", ".join(f"c({one})" for one in joined), zeros=",0,".join(joined),
        ),
        tmp_path, loops=1 if example == "disability" else 200,
    )  # fmt: skip
    other = np.loadtxt(tmp_path / "fit").reshape(table.shape, order="F")
    assert np.abs(found - other).max() < 0.01
    rival = "R (loglin, one core)" if package == "stats" else "R's cat (ipf, one core)"
    small = example != "disability"
    claim(
        "proportional fitting", f"All pairs of the {example} table", ours=seconds, rival=rival,
        theirs=float(said), size=f"{table.size:,} cells",
        why="Each margin costs some numpy calls in every round, however few its cells; R's rounds "
        "are compiled." if small else
        "The rounds are the same; neighbouring axes are taken together, so that sums run "
        "over long rows.",
    )  # fmt: skip
