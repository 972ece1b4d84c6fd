"""How a printed count came about, from what its release says: p(shown | true)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.masks.cellkey.likelihood import likelihood
from discreet.masks.cellkey.ptable import PTable, count_ptable
from discreet.masks.rounding.simple import chances

Law = Callable[[float, Ints], Floats]
CHOSEN = (
    "all counts that round to what is shown are taken as alike; how it was chosen may tell more"
)
NEAR = 1e-6  # of a step
APART = "noises of different cells of one release are taken as independent"


@dataclass(frozen=True, eq=False)
class Mechanism:
    """shown - below <= true <= shown + above, and log p(shown | true) there; None: alike.

    Of amounts that are no counts only `lowest` says whether the least of these can be true; the
    most cannot. Releases with one `secret` give the same people the same noise.
    """

    below: float
    above: float
    law: Law | None = None
    secret: str = ""
    said: str = ""
    lowest: bool = False

    def log(self, shown: float, counts: Ints) -> Floats:
        """log p(shown | count); -inf where it cannot be.

        >>> found = mechanism("random rounding", {"base": 3})
        >>> np.exp(found.log(3, np.arange(7))).round(3).tolist()
        [0.0, 0.333, 0.667, 1.0, 0.667, 0.333, 0.0]
        """
        inside = (counts >= shown - self.below) & (counts <= shown + self.above)
        if self.law is None:
            return np.where(inside, 0.0, -np.inf)
        return np.where(inside, self.law(shown, counts), -np.inf)

    def steps(self, shown: Floats, step: float) -> tuple[Floats, Floats]:
        """The least and the most that each can be where all amounts are multiples of a step.

        >>> low, high = mechanism("random rounding", {"base": 1.5}, whole=False).steps(
        ...     np.array([0.0, 1.5, 6.0]), 1.0
        ... )
        >>> low.tolist(), high.tolist()
        ([0.0, 1.0, 5.0], [1.0, 2.0, 7.0])
        """
        low, high = (shown - self.below) / step, (shown + self.above) / step
        low = np.ceil(low - NEAR) if self.lowest else np.floor(low + NEAR) + 1
        return step * np.maximum(low, 0.0), step * (np.ceil(high - NEAR) - 1)

    def ends(self, shown: Floats, *, whole: bool = True) -> tuple[Floats, Floats]:
        """The least and the most that each can be: the counts that can be shown so.

        >>> low, high = mechanism("cell key", {"D": 2, "V": 0.9}).ends(np.array([0.0, 1, 9]))
        >>> low.tolist(), high.tolist()  # a zero stays one
        ([0.0, 1.0, 7.0], [2.0, 3.0, 11.0])
        """
        low, high = np.maximum(shown - self.below, 0.0), shown + self.above
        for value in np.unique(shown).tolist() if whole and self.law is not None else ():
            counts = np.arange(max(0, math.ceil(value - self.below)), int(value + self.above) + 1)
            able = counts[self.log(value, counts) > -np.inf]
            if len(able):
                low[shown == value], high[shown == value] = able[0], able[-1]
        return low, high


def mechanism(
    method: str, parameters: Mapping[str, Any], *, whole: bool = True, ptable: PTable | None = None
) -> Mechanism | None:
    """That of a method as manifests name it; None where nothing follows for a single cell.

    >>> mechanism("conventional rounding", {"base": 5}).above
    2
    """
    if method == "conventional rounding":
        base = parameters["base"]
        if whole:
            return Mechanism(base // 2, -(-base // 2) - 1)
        return Mechanism(base / 2, base / 2, lowest=True)
    if method.endswith("rounding"):
        base, further = parameters["base"], bool(parameters.get("exceptions"))
        reach = (2 if further else 1) * base - (1 if whole else 0)
        if method in ("random rounding", "unbiased controlled rounding"):
            said = "" if method.startswith("random") else APART
            return Mechanism(reach, reach, _rounded(base), said=said)
        return Mechanism(reach, reach, said=CHOSEN)
    if method == "cell key" and whole:
        return _keyed(parameters, ptable)
    return None


def _rounded(base: float) -> Law:
    def law(shown: float, counts: Ints) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(chances(counts, base, np.full(counts.shape, shown))))

    return law


def _keyed(parameters: Mapping[str, Any], ptable: PTable | None) -> Mechanism:
    if ptable is None:
        known = ("D", "V", "js", "pstay", "optim", "mono")
        if not {"D", "V"} <= set(parameters) or "threshold" in parameters:
            raise DataError(
                "the release does not say its transition probabilities; give them with ptable."
            )
        ptable = count_ptable(**{name: parameters[name] for name in known if name in parameters})
    matrix, reach = likelihood(ptable), ptable.reach

    def law(shown: float, counts: Ints) -> Floats:
        own = np.minimum(counts, len(matrix) - 1)  # counts above the largest have its noise
        at = int(shown) - counts + own
        inside = (at >= 0) & (at < matrix.shape[1])
        with np.errstate(divide="ignore"):
            return np.log(np.where(inside, matrix[own, np.where(inside, at, 0)], 0.0))

    secret = str(parameters.get("secret", ""))
    return Mechanism(math.floor(reach), math.floor(reach), law, secret, APART)
