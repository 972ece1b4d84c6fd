"""Complementary suppression beside GaussSuppression of Statistics Norway, in R.

Both promise that no primary cell follows from what is printed by linear algebra; zeros are printed.
Hard, because the hidden cells of three ways hang together in one piece. Patterns differ, so each is
judged by elimination modulo a prime, which shares no code with the rival.
"""

import numpy as np
import pandas as pd
import pytest
from claims_r import in_r, needs_r
from claims_timing import best

from discreet.intruder.sums.protection import Protection
from discreet.masks.suppress.elimination import determined
from discreet.masks.suppress.suppress import suppress
from sumcases import crossed

RIVAL = """
library(GaussSuppression)
x <- read.csv("table.csv")
work <- function() SuppressSmallCounts(
  x, maxN = 2, dimVar = c("A", "B", "C"), freqVar = "freq", protectZeros = FALSE,
  singletonMethod = "none", printInc = FALSE)
quiet <- function() suppressMessages(work())
cat(timed(quiet, 1), "\\n")
write.csv(quiet(), "found.csv", row.names = FALSE)
"""


@pytest.mark.parametrize("shape", [(10, 8, 6), (30, 15, 8)], ids=str)
def test_no_cell_follows(claim, tmp_path, shape):
    needs_r(claim, "GaussSuppression")
    system = crossed(*shape)
    counts = np.random.default_rng(1).poisson(4.17, shape)
    values = system.sums @ counts.ravel()
    secret = np.flatnonzero((values >= 1) & (values <= 2))
    asked = Protection.widths(secret, values[secret], 1)
    found, ours = best(
        lambda: suppress(system, values, asked, secret, must=values == 0, guarantee="unique"), 1
    )
    codes = np.indices(shape).reshape(3, -1)
    frame = pd.DataFrame({name: codes[axis] for axis, name in enumerate("ABC")})
    frame.assign(freq=counts.ravel()).to_csv(tmp_path / "table.csv", index=False)
    said = in_r(RIVAL, tmp_path)
    other = pd.read_csv(tmp_path / "found.csv", dtype=dict.fromkeys("ABC", str))
    places = other[list("ABC")].replace("Total", "-1").astype(int).to_numpy() + 1
    hidden = np.zeros(system.cells, bool)
    rows = system.places[0][tuple(places.T)]
    assert np.array_equal(values[rows], other["freq"])
    hidden[rows] = other["suppressed"].astype(bool)
    for pattern in (found.hidden, hidden):
        assert pattern[secret].all()
        assert not pattern[values == 0].any()
        assert not determined(system, pattern)[secret].any()
    more = [int(pattern.sum()) - len(secret) for pattern in (found.hidden, hidden)]
    claim(
        "suppression", f"No primary cell of {' x '.join(map(str, shape))} follows", ours=ours,
        rival="GaussSuppression (R, one core)", theirs=float(said[-1]),
        size=f"{len(secret):,} primary cells",
        why=f"We hide {more[0]:,} cells besides, the rival {more[1]:,}; both leave no primary cell "
        "that follows. Elimination is modulo a prime, and begins at cheap cubes of cells.",
    )  # fmt: skip
