"""Primary rules: number of contributors, dominance, p% and pq, requests.

x1 >= x2 >= ... are the contributions to a cell with the sum X. Each rule says which cells it
forbids, and how far below and above X an intruder's interval must reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from discreet.arrays import Bools, Floats, Ints
from discreet.sheets.contributions import Contributions

CLOSE = 1e-9  # of sums of fractions, on the side that is stricter
ROUNDED = 1e-14  # of sums that are equal but for rounding


class Weighting(StrEnum):
    """How a contribution counts in a weighted sum.

    TOTAL: as it is, x, in the weighted sum. REPEATED: as w contributors of x each, the way of
    tau-ARGUS.
    """

    TOTAL = "total"
    REPEATED = "repeated"


@dataclass(frozen=True, eq=False)
class Sensitive:
    """The cells that a rule forbids to print, and how far around their values stays open."""

    rule: str
    cells: Bools
    reach: Floats  # below and above the value

    def __len__(self) -> int:
        return int(self.cells.sum())

    def __repr__(self) -> str:
        return f"Sensitive({self.rule}: {len(self):,} of {len(self.cells):,} cells)"


def too_few(
    cells: Contributions, least: int | Ints, *, percent: float = 10.0, zeros: bool = False
) -> Sensitive:
    """Fewer contributors than `least`; `percent` of the value must stay open either way, and above
    a 0 that `zeros` forbids as much of an average contribution.
    """
    few = (cells.number < least) & (cells.number > 0)
    if zeros:
        few |= (cells.values == 0) & cells.possible
    size = np.where(cells.values > 0, cells.values, cells.usual)
    return Sensitive("contributors", few, np.where(few, percent / 100 * size, 0.0))


def few_zeros(cells: Contributions, least: int | Ints, *, percent: float = 10.0) -> Sensitive:
    """A sum of 0 of fewer than `least` who are there: it tells that each of them has 0.

    `percent` of an average contribution must stay open above it.
    """
    told = (cells.values == 0) & (cells.present > 0) & (cells.present < least)
    return Sensitive("zeros", told, np.where(told, percent / 100 * cells.usual, 0.0))


def dominance(
    cells: Contributions, n: int, k: float, weighting: Weighting = Weighting.TOTAL
) -> Sensitive:
    """(n, k): x1 + ... + xn > k/100 X; the interval must reach 100/k (x1 + ... + xn)."""
    top = _top(cells, n, weighting)[:, :n].sum(1)
    need = 100 / k * top - cells.judged
    return _sensitive(f"({n}, {k:g}) dominance", cells, need)


def p_percent(
    cells: Contributions,
    p: float,
    *,
    q: float = 100.0,
    coalition: int = 1,
    weighting: Weighting = Weighting.TOTAL,
) -> Sensitive:
    """p%: the next `coalition` largest together can tell x1 to within p percent.

    X - x1 - (x2 + ... + x(1+c)) < p/q x1, where q percent is how well the others are known before
    (100: p%; less: pq).
    """
    top = _top(cells, 1 + coalition, weighting)
    rest = cells.judged - top[:, : 1 + coalition].sum(1)
    name = f"p% ({p:g})" if q == 100 else f"pq ({p:g}, {q:g})"
    return _sensitive(name, cells, p / q * top[:, 0] - rest)


def requested(cells: Contributions, share: float, *, percent: float = 10.0) -> Sensitive:
    """Somebody who asked to be protected has `share` percent of the cell, or more."""
    told = (cells.asked > 0) & (cells.asked >= share / 100 * cells.judged - _slack(cells))
    return Sensitive("request", told, np.where(told, percent / 100 * cells.values, 0.0))


def _sensitive(name: str, cells: Contributions, need: Floats) -> Sensitive:
    """Cells whose need is above 0; of a shadow variable it is scaled to the value."""
    told = (need > ROUNDED * cells.judged) & (cells.number > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.where(cells.judged > 0, cells.values / cells.judged, 1.0)
    return Sensitive(name, told, np.where(told, need * scale, 0.0))


def _slack(cells: Contributions) -> Floats:
    return CLOSE * np.maximum(cells.judged, 1.0)


def _top(cells: Contributions, n: int, weighting: Weighting) -> Floats:
    """The n largest contributions of each cell, in the chosen convention."""
    kept = cells.largest.shape[1]
    if n > kept:
        raise ValueError(f"{n} of {kept} contributions")
    if weighting is Weighting.TOTAL:
        return cells.largest
    # x1 stands there w1 times, then x2
    times = np.maximum(np.rint(cells.weights), 1) * (cells.largest > 0)
    before = np.cumsum(times, 1) - times
    share = np.clip(np.arange(1, n + 1)[:, None, None] - 1, 0, None)
    inside = (before[None] <= share) & (share < (before + times)[None])
    return np.asarray((inside * cells.largest[None]).sum(2).T)
