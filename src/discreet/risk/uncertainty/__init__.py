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
    OverUnder,
    RelativeError,
    Variance,
    inverse_moments,
    variation,
)
from discreet.risk.uncertainty.onvalues import OnValues, on_values
from discreet.risk.uncertainty.written import Loss, LossAtValues

__all__ = [
    "Absolute", "Best", "ByProbability", "Entropy", "Largest", "Lengths", "Loss", "LossAtValues",
    "OnValues", "OverUnder", "RelativeError", "TwoSided", "Uncertainty", "Variance", "Weighted",
    "inverse_moments", "on_values", "variation",
]  # fmt: skip
