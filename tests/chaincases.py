"""Random small tables and releases whose tables can all be listed, and chains held against them."""

import numpy as np

from discreet.errors import DataError
from discreet.intruder.posterior.chains.chains import chain_draws
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.tables.enumerate import enumerate_tables
from discreet.release.release import Release
from oracle import letters, named

PAIRS = [(0, 1), (0, 2), (1, 2)]
MODELS = (
    CellWeights.dirichlet(),
    CellWeights.multinomial(),
    CellWeights.of(lambda codes, n: -0.1 * n**2 * (1 + codes.sum(1)), "odd"),
)


def random_release(rng, *, decomposable, most=300):
    """Between 2 and `most` tables fit; one in four releases tells something of a cell besides."""
    while True:
        shape = tuple(rng.integers(2, 4, rng.integers(2, 5)).tolist())
        if np.prod(shape) > 27:
            continue
        people = rng.integers(0, np.prod(shape), rng.integers(2, 3 * np.prod(shape)))
        array = np.bincount(people, minlength=np.prod(shape)).reshape(shape)
        margins = {
            tuple(sorted(rng.choice(len(shape), rng.integers(1, len(shape)), replace=False)))
            for _ in range(rng.integers(1, 5))
        }
        release = Release.margins(named(array), letters(sorted(margins)))
        if release.formula.is_decomposable != decomposable:
            continue
        if not decomposable and rng.random() < 0.25:
            cell = rng.integers(0, shape)
            count = int(array[tuple(cell)])
            at = {chr(65 + axis): int(code) for axis, code in enumerate(cell)}
            low = max(0, count - int(rng.integers(2)))
            release = release.between(at, low, count + int(rng.integers(2)))
        try:
            tables = enumerate_tables(release, limit=most)[1]
        except DataError:  # too many
            continue
        if len(tables) > 1:
            return release


def reached(release, drawn):
    """How many different tables were drawn, and how many fit."""
    seen = drawn.counts.reshape(-1, len(drawn.cells))
    return len(np.unique(seen, axis=0)), len(enumerate_tables(release, limit=10_000)[1])


def off(release, drawn, weights):
    """How many standard errors each cell's probabilities are off those of an exact sum."""
    exact, effective = exact_posterior(release, weights=weights), drawn.convergence.effective
    flat, found = drawn.counts.reshape(-1, len(drawn.cells)), []
    for count in range(int(flat.max()) + 1):
        p = exact.probability(count)
        some = p * (1 - p) * effective > 5
        error = np.sqrt(p * (1 - p) / effective)[some]
        found.append(((flat == count).mean(0) - p)[some] / error)
        assert (flat == count).mean(0)[p == 0].sum() == 0
    return np.concatenate(found)


def compare(release, weights, *, draws, seed, **more):
    drawn = chain_draws(release, weights=weights, draws=draws, seed=seed, seconds=3600, **more)
    return drawn, off(release, drawn, weights)
