"""Which keys make a link."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.intruder.linkage.encode import Encoded

Floats = NDArray[np.float64]


def reasons(data: Encoded, source: int, released: int) -> dict[str, float]:
    """How many times likelier each key makes the pair than an average source, largest first."""
    found: dict[str, float] = {}
    for d, name in enumerate(data.numbers):
        x, y = data.x[released, d], data.y[:, d]
        if np.isnan(x) or np.isnan(y[source]):
            continue
        known = y[~np.isnan(y)]
        own = float(_density(data, d, np.array([x - y[source]]))[0])
        found[name] = own / max(float(_density(data, d, x - known).mean()), 1e-300)
    for v, name in enumerate(data.categories):
        column = data.types @ data.chances[:, v, :, data.released_codes[released, v]]
        mean = float(column[data.source_codes[:, v]].mean())
        found[name] = float(column[data.source_codes[source, v]]) / max(mean, 1e-300)
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _density(data: Encoded, d: int, away: Floats) -> Floats:
    """Of one number at these distances, over types and mixtures."""
    squares = away[:, None, None] ** 2 / 2
    each = np.exp(data.heights[:, d] - data.precisions[:, d] * squares).sum(2)
    return np.asarray(each @ data.types)
