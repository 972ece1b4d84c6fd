"""Expected harm of 140 random beliefs about numbers against a million draws of each.

Easy: seven families in closed form. Hard: 1,680 comparisons, so that some must be beyond 3 standard
errors by chance: 0.27% of them if the integrals are right. What is held is the whole law of the
differences, in standard errors: their mean square is 1, and few are beyond 3.
"""

import numpy as np

from discreet.linkage import expected_harm
from harmcases import COSTS, DRAWS, FAMILIES, away, belief

BELIEFS = 20


def test_differences_are_those_of_chance():
    far, worst = [], (0.0, "", "")
    for kind, family in enumerate(FAMILIES):
        for seed in range(BELIEFS):
            rng = np.random.default_rng([93, kind, seed])
            held, draw = belief(family, rng)
            truth = float(rng.uniform(70, 130))
            drawn = draw(DRAWS)
            for name, (loss, cost) in COSTS.items():
                z = away(expected_harm(held, loss, truth).expected, cost(truth, drawn))
                far.append(z)
                worst = max(worst, (z, family, name))
    z = np.array(far)
    square, beyond = float((z**2).mean()), int((z > 3).sum())
    print(f"{len(z)} comparisons: mean square {square:.3f}, {beyond} beyond 3, largest {worst}")
    assert 0.7 < square < 1.3  # 140 independent beliefs: +- .12
    assert beyond <= 0.01 * len(z)
    assert z.max() < 5
