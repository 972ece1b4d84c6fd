"""Estimates that are as good as the best one: which of them a user takes, nobody knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.intruder.belief.atoms import gathered, plain
from discreet.intruder.belief.belief import Kind
from discreet.intruder.posterior.whole_table import Held, TableBelief
from discreet.risk.uncertainty import Absolute, Largest, Loss
from discreet.risk.uncertainty.base import Best, Uncertainty

ALIKE = 1e-9  # expected losses as near as this, relatively, are the same


def tied(loss: Uncertainty, belief: Held, best: Best) -> list[Any]:
    """The possible values, or acts, whose expected loss is the least; the best one first.

    The other losses have one best estimate, but a written loss of a density or of whole tables,
    where the best one that was found stands alone.
    """
    if isinstance(belief, TableBelief):
        if not isinstance(loss, Largest):
            return [best.estimate]
        high = belief.mass >= belief.mass.max() * (1 - ALIKE)
        return list(belief.tables[high])
    if belief.kind is Kind.DENSITY or not isinstance(loss, Largest | Absolute | Loss):
        return [best.estimate]
    values, mass = gathered(belief.values, belief.mass)
    values, mass = values[mass > 0], mass[mass > 0]
    acts = [plain(value) for value in values]
    if isinstance(loss, Largest):
        risks = 1 - mass
    elif isinstance(loss, Absolute):
        risks = np.array([mass @ np.abs(values - value) for value in values])
    else:
        if not callable(loss.given):
            return [best.estimate]
        acts = acts if loss.acts is None else list(loss.acts)
        risks = np.array([Loss(loss.given, [act]).best(belief).uncertainty for act in acts])
    near = risks <= risks.min() + ALIKE * max(1.0, float(risks.min()))
    return [act for act, as_good in zip(acts, near, strict=True) if as_good]
