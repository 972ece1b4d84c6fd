"""A sampled belief drawn again, to see how far what follows from it moves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.intruder.belief.atoms import gathered
from discreet.intruder.belief.belief import Belief, Kind
from discreet.intruder.posterior.whole_table import Held

TIMES = 40


def drawn_again(belief: Held) -> Iterator[Belief]:
    """Beliefs from as many independent draws as this one is worth: a parametric bootstrap.

    Nothing of a belief about a whole table or of a density.

    >>> belief = Belief.discrete([0, 1], [0.4, 0.6], effective=100)
    >>> again = list(drawn_again(belief))
    >>> len(again), 0.03 < float(np.std([each.mean for each in again])) < 0.07
    (40, True)
    """
    if not isinstance(belief, Belief) or belief.kind is Kind.DENSITY:
        return
    values, mass = gathered(belief.values, belief.mass)
    rng = np.random.default_rng(0)
    drawn = max(1, round(effective_draws(belief)))
    for counts in rng.multinomial(drawn, mass / mass.sum(), TIMES):
        seen = counts > 0
        yield Belief.discrete(values[seen], counts[seen] / drawn, effective=drawn)


def effective_draws(belief: Belief) -> float:
    """How many independent draws a sampled belief is worth, by the error of its likeliest value.

    >>> round(effective_draws(Belief.discrete([0, 1], [0.4, 0.6], effective=100)))
    100
    """
    values, mass = gathered(belief.values, belief.mass)
    top = int(np.argmax(mass))
    error, p = belief.standard_error(values[top].item()), float(mass[top])
    if not 0 < p < 1 or not error > 0:
        return float(belief.effective or len(belief.values))
    return p * (1 - p) / error**2
