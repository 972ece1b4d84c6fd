"""Where texts with digits stand: amounts, dates, ranges, numbers within words, as numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from discreet.data.amounts import CONVENTIONS
from discreet.data.order import in_order

_EDGES = re.compile(
    r"^(?P<before>[^\d.,+-]*)(?P<number>.*?\d[.,]?)(?P<after>[^\d.,+-]*)$", re.ASCII
)


def standing(labels: Iterable[str]) -> dict[str, float]:
    """A number for each label with a digit: its amount if all are written alike, else its place in
    the natural order. What is near in it is near in meaning.

    >>> standing(["1.000,50 EUR", "950 EUR", "none"])
    {'1.000,50 EUR': 1000.5, '950 EUR': 950.0}
    >>> standing(["31.12.2019", "1.2.2020", "unknown"])
    {'31.12.2019': 0.0, '1.2.2020': 1.0}
    """
    words = sorted({one for one in labels if any(letter.isdigit() for letter in one)})
    found = _amounts(words)
    return found or {one: float(place) for place, one in enumerate(in_order(words))}


def _amounts(words: list[str]) -> dict[str, float]:
    """What the labels say as amounts, if one convention and one unit fits all."""
    import pyarrow as pa

    parts = [_EDGES.match(one) for one in words]
    units = {(part["before"].strip(), part["after"].strip()) for part in parts if part}
    if not all(parts) or len(units) != 1:
        return {}
    texts = [part["number"] for part in parts if part]
    for one in CONVENTIONS:
        if all(re.match(one.pattern, text) for text in texts):
            values = one.read(pa.array(texts, pa.string()))
            return dict(zip(words, np.asarray(values).tolist(), strict=True))
    return {}
