"""What synthetic copies say about the true count of a cell.

In the saturated model, with the prior a of a cell and A of all, and N people in the table, the
cell's own counts y_1, ..., y_m in the copies have the likelihood

    prod_k BetaBinomial(y_k; N, a + n, A - a + N - n)

of its true count n, whose prior is BetaBinomial(n; N, a, A - a): exact beliefs given these counts.
In any other model the copies speak of a cell only through the model: fitted to all copies together,
as if they were one sample,

    n ~ Binomial(N, theta),   theta from its posterior

an approximation, for copies of several draws of the parameters say a little less than a sample.
Where some variables were kept, N is the number of people with the cell's values of these.
"""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.posterior.result import Posterior
from discreet.masks.synthesis.given import chance_of, eligible
from discreet.masks.synthesis.synthesise import Synthetic, over, refitted
from discreet.models.decomposed import LogLinearCells
from discreet.table.cells import Cells
from discreet.table.keys import Codes

DRAWS = 50
TAIL = 1e-12  # probability that may be cut off
FIRST = 32  # counts that are looked at first
WIDE, SOME = 9.0, 40  # standard deviations, and counts more, beyond which less than TAIL lies


def count_belief(
    synthetic: Synthetic,
    cells: Cells,
    *,
    draws: int = DRAWS,
    rng: np.random.Generator | None = None,
) -> Posterior:
    """Beliefs about the true counts of cells, given the copies and how they were made.

    Exact in the saturated model; else of `draws` draws of the parameters, and approximate.

    >>> from discreet.masks.synthesis.synthesise import synthesise
    >>> from discreet.table.load import load
    >>> table = load("example:tract")
    >>> model = LogLinearCells.fit(table, "Gender*Race*Income")
    >>> made = synthesise(table, model, copies=5, rng=np.random.default_rng(1))
    >>> count_belief(made, table.small()).probability(table.small().counts).round(2)
    array([0.38, 0.81, 0.47, 0.66])
    """
    table = synthetic.tables[0]
    codes = over(table, cells)
    asked = Cells(table.variables, codes, cells.counts)
    model = synthetic.model
    if isinstance(model, LogLinearCells) and model.saturated:
        mass = _exact(synthetic, codes, model)
        low: Ints | int = 0
        how: dict[str, object] = {"method": f"exact, given its counts in {len(synthetic)} copies"}
    else:
        if draws < 1:
            raise DataError(f"draws is {draws}; give at least 1.")
        rng = np.random.default_rng(0) if rng is None else rng
        low, mass = _sampled(synthetic, codes, draws, rng)
        how = {
            "method": f"approximate, by the model of {len(synthetic)} copies, {draws} draws",
            "effective": float(draws),
        }
    prior = f"{model.prior:.2g}" if isinstance(model, LogLinearCells) else None
    return Posterior.of(asked, mass, low=low, model=synthetic.method, prior=prior, **how)


def _exact(synthetic: Synthetic, codes: Codes, model: LogLinearCells) -> list[Floats]:
    table = synthetic.tables[0]
    seen = np.stack([copy.lookup(codes) for copy in synthetic.tables], 1)
    people = eligible(synthetic, codes)
    a = model.prior
    every = a * np.prod([table.variable(name).size for name in synthetic.replaced])
    rows, place = np.unique(
        np.column_stack([people, np.sort(seen, 1)]), axis=0, return_inverse=True
    )
    found = [_belief(int(row[0]), row[1:], a, float(every)) for row in rows]
    return [found[p] for p in place.ravel()]


def _belief(people: int, seen: Ints, a: float, every: float) -> Floats:
    """Probabilities of the counts from 0 on, as far as they are not negligible."""
    if every <= a:  # the only cell that those who may be in it can be in
        return np.append(np.zeros(people), 1.0)
    end = min(people, FIRST + 2 * int(seen.max(initial=0)))
    while True:
        n = np.arange(end + 1.0)
        log = _beta_binomial(n, people, a, every - a)
        for y in seen:
            log = log + _beta_binomial(float(y), people, a + n, every - a + people - n)
        mass = np.exp(np.maximum(log - log.max(), -700.0))
        if end == people or mass[-1] < TAIL * mass.sum():
            return np.asarray(mass / mass.sum())
        end = min(people, 2 * end)


def _beta_binomial(n: Floats | float, people: int, a: Floats | float, b: Floats | float) -> Floats:
    """The log of its probability, without what is the same for all a and b where n is fixed."""
    from scipy.special import betaln, gammaln

    choose = gammaln(people + 1.0) - gammaln(np.asarray(n) + 1.0) - gammaln(people - n + 1.0)
    return np.asarray(choose + betaln(n + a, people - n + b) - betaln(a, b))


def _sampled(
    synthetic: Synthetic, codes: Codes, draws: int, rng: np.random.Generator
) -> tuple[Ints, list[Floats]]:
    model, people = refitted(synthetic), eligible(synthetic, codes)
    theta = np.stack([chance_of(p, synthetic, codes) for p in model.posterior(draws, rng)])
    theta = np.clip(theta, 0.0, 1.0)
    fewest, most = people * theta.min(0), people * theta.max(0)
    low = np.maximum(fewest - WIDE * np.sqrt(fewest) - SOME, 0).astype(np.int64)
    high = np.minimum(most + WIDE * np.sqrt(most) + SOME, people).astype(np.int64)
    mass = []
    for cell, (first, last) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
        values = np.arange(first, last + 1.0)
        log = _binomial(values, int(people[cell]), theta[:, cell, None])
        chances = np.exp(np.maximum(log, -700.0)).mean(0)
        mass.append(chances / chances.sum())
    return low, mass


def _binomial(n: Floats, people: int, chance: Floats) -> Floats:
    """The log of its probability; no under- or overflow however small the chance is."""
    from scipy.special import gammaln, xlog1py, xlogy

    choose = gammaln(people + 1.0) - gammaln(n + 1.0) - gammaln(people - n + 1.0)
    return np.asarray(choose + xlogy(n, chance) + xlog1py(people - n, -chance))
