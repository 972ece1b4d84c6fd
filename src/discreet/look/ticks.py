"""Round numbers for axes."""

from __future__ import annotations

import math

SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
HALVES = (0.0, 0.5, 1.0)


def whole_ticks(highest: int, most: int) -> list[int]:
    """Round whole numbers from 0 to `highest`.

    >>> whole_ticks(17, 4)
    [0, 5, 10, 15]
    """
    unit = 1
    while highest / unit > most:
        unit = unit * 5 // 2 if str(unit)[0] == "2" else unit * 2
    return list(range(0, highest + 1, unit))


def power_ticks(highest: int) -> list[int]:
    """0, then powers of ten, with steps between them if they are few.

    >>> power_ticks(30), power_ticks(2000)
    ([0, 1, 2, 5, 10, 20], [0, 1, 10, 100, 1000])
    """
    steps = (1, 2, 5) if highest < 500 else (1,)
    return [
        0,
        *(s * 10**p for p in range(len(str(highest))) for s in steps if s * 10**p <= highest),
    ]


def nice_ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers that enclose low and high.

    >>> nice_ticks(-5, -1, 5), nice_ticks(0.1, 0.34, 2), nice_ticks(3, 3, 5)
    ([-5.0, -4.0, -3.0, -2.0, -1.0], [0.0, 0.2, 0.4], [2.0, 2.5, 3.0, 3.5, 4.0])
    """
    if low == high:
        step = 10.0 ** math.floor(math.log10(abs(low))) if low else 1.0
        low, high = low - step, high + step
    rough = (high - low) / most
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * k for k in (1, 2, 5, 10) if unit * k >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{k * step:.12g}") for k in range(first, last + 1)]
