"""The risk-utility map in letters, for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.look.words import number

WIDE, HIGH = 56, 9
MARKS = "123456789abcdefghijklmnopqrstuvwxyz"


def text_map(points: Sequence[tuple[float | None, float]], *, limit: float) -> list[str]:
    """Risk across, utility up; points are numbered in their order, those beyond 35 are dots.

    The colons are the risk limit; what is no finite number is left out; points in one place show
    the first.

    >>> for line in text_map([(0.1, 4), (0.4, 9)], limit=0.2)[-4:]:
    ...     print(line)
      4 1                  :
        +-------------------------------------------------------
        0.1                                                  0.4
        risk across, utility up, : the limit 0.2
    """
    known = [
        (place, float(risk), worth)
        for place, (risk, worth) in enumerate(points)
        if risk is not None and math.isfinite(risk) and math.isfinite(worth)
    ]
    if not known:
        return ["no release to draw"]
    risks = [risk for _, risk, _ in known] + ([limit] if math.isfinite(limit) else [])
    worths = [worth for _, _, worth in known]
    low, high, least, most = min(risks), max(risks), min(worths), max(worths)
    grid = [[" "] * WIDE for _ in range(HIGH)]
    if math.isfinite(limit):
        for row in grid:
            row[_step(limit, low, high, WIDE)] = ":"
    for place, risk, worth in reversed(known):
        mark = MARKS[place] if place < len(MARKS) else "."
        grid[HIGH - 1 - _step(worth, least, most, HIGH)][_step(risk, low, high, WIDE)] = mark
    top, bottom = number(most), number(least)
    edge = max(len(top), len(bottom), 3)
    sides = [top, *[""] * (HIGH - 2), bottom]
    lines = [
        f"{side:>{edge}} {''.join(row)}".rstrip() for side, row in zip(sides, grid, strict=True)
    ]
    left, right = number(low), number(high)
    gap = " " * (edge + 1)
    lines.append(f"{gap}+{'-' * (WIDE - 1)}")
    lines.append(gap + (left if low == high else f"{left}{right:>{WIDE - len(left)}}"))
    shown = f", : the limit {number(limit)}" if math.isfinite(limit) else ""
    return [*lines, f"{gap}risk across, utility up{shown}"]


def _step(value: float, low: float, high: float, steps: int) -> int:
    return 0 if high == low else round((value - low) / (high - low) * (steps - 1))
