"""Which keys make a link."""

from __future__ import annotations

import numpy as np

from discreet.intruder.linkage.encode import Encoded


def reasons(data: Encoded, source: int, released: int) -> dict[str, float]:
    """How many times likelier each key makes the pair than an average source, largest first."""
    found: dict[str, float] = {}
    for d, name in enumerate(data.numbers):
        x, y = data.x[released, d], data.y[:, d]
        if np.isnan(x) or np.isnan(y[source]):
            continue
        ratio, share = data.ratios[d][:, None], data.shares[d][:, None]
        known = y[~np.isnan(y)]
        heights = (share / ratio * np.exp(-(((x - known) / ratio) ** 2) / 2)).sum(0)
        own = float((share / ratio * np.exp(-(((x - y[source]) / ratio) ** 2) / 2)).sum())
        found[name] = own / max(float(heights.mean()), 1e-300)
    for v, name in enumerate(data.categories):
        column = data.tables[v][:, data.released_codes[released, v]]
        mean = float(column[data.source_codes[:, v]].mean())
        found[name] = float(column[data.source_codes[source, v]]) / max(mean, 1e-300)
    return dict(sorted(found.items(), key=lambda item: -item[1]))
