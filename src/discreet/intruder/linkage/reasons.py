"""Which keys make a link."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats
from discreet.intruder.linkage.encode import Encoded


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
    for one in data.own.beliefs:
        logs = one.logs(released, np.arange(len(data.y)))
        if not np.isnan(one.x[released]) and not np.isnan(one.center[source]):
            own = np.exp(logs - logs.max())
            found[one.name] = float(own[source]) / max(float(own.mean()), 1e-300)
    for name, column in _columns(data, released).items():
        ratio = float(column[source]) / max(float(column.mean()), 1e-300)
        found[name] = found.get(name, 1.0) * ratio
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _columns(data: Encoded, released: int) -> dict[str, Floats]:
    """P[released | source] of all sources, by key: categories, ranks, and whether it is missing."""
    found: dict[str, Floats] = {}
    for v, name in enumerate(data.categories):
        column = data.types @ data.chances[:, v, :, data.released_codes[released, v]]
        found[name] = column[data.source_codes[:, v]]
    for k, name in enumerate(data.ranks.names):
        found[name] = data.ranks.chances(k, released)
    for e, name in enumerate(data.matches.names):
        found[name] = found.get(name, 1.0) * data.matches.chances(e, released)
    return found


def _density(data: Encoded, d: int, away: Floats) -> Floats:
    """Of one number at these distances, over types and mixtures."""
    squares = away[:, None, None] ** 2 / 2
    each = np.exp(data.heights[:, d] - data.precisions[:, d] * squares).sum(2)
    return np.asarray(each @ data.types)
