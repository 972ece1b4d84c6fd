"""Does a value break its limit? At the limit, the sentence of the policy's key decides."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np

NEAR = 1e-9  # a value so close below a limit that may not be reached counts as there
ROUNDED = 1e-12  # values of exact formulas that differ by rounding alone


class Says(StrEnum):
    """What the key of a policy says of its limit: which values break it, or keep it."""

    OR_MORE = "this or more breaks it"
    AT_MOST = "at most this keeps it"
    AT_LEAST = "at least this keeps it"


def breaks(value: Any, limit: float, says: Says) -> Any:
    """Which values break a limit; one that equals it, as the key says.

    Rounding makes a value that equals the limit neither break a limit that it keeps, nor keep one
    that it breaks. Of what is sampled, add the error before, so that doubt counts as broken.

    >>> breaks(0.7 - 1e-13, 0.7, Says.OR_MORE), breaks(0.7 + 1e-13, 0.7, Says.AT_MOST)
    (True, False)
    """
    scale = np.maximum(1.0, np.abs(limit)) if says is Says.OR_MORE else np.abs(limit)
    if says is Says.OR_MORE:
        found = value >= limit - NEAR * scale
    elif says is Says.AT_MOST:
        found = value > limit + ROUNDED * scale
    else:
        found = value < limit - ROUNDED * scale
    return found if isinstance(found, np.ndarray) else bool(found)
