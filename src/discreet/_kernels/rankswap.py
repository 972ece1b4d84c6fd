"""Random exchanges among ranks that stay near."""

from __future__ import annotations

from numba import njit

from discreet.arrays import Ints


@njit(cache=True, nogil=True)
def exchange(holds: Ints, first: Ints, second: Ints, window: int) -> int:
    """Places `first` and `second` exchange what they hold, if both stay within the window.

    Returns how many did; places outside the array do nothing.
    """
    done = 0
    for step in range(len(first)):
        i, j = first[step], second[step]
        if j < 0 or j >= len(holds):
            continue
        a, b = holds[i], holds[j]
        if abs(a - j) <= window and abs(b - i) <= window:
            holds[i], holds[j] = b, a
            done += 1
    return done
