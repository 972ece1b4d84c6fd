"""How little is known when a belief is held: U = min over estimates of the expected loss."""

from discreet.risk.uncertainty.base import Best, Uncertainty
from discreet.risk.uncertainty.categories import (
    ByProbability,
    Entropy,
    Largest,
    TwoSided,
    Weighted,
)
from discreet.risk.uncertainty.numbers import (
    Absolute,
    Lengths,
    RelativeError,
    Variance,
    inverse_moments,
    variation,
)
from discreet.risk.uncertainty.written import Loss

__all__ = [
    "Absolute", "Best", "ByProbability", "Entropy", "Largest", "Lengths", "Loss", "RelativeError",
    "TwoSided", "Uncertainty", "Variance", "Weighted", "inverse_moments", "variation",
]  # fmt: skip
