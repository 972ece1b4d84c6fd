"""Every way to put labelled people into categories, with its probability under a prior."""

import math
from itertools import product

from discreet.intruder.predictive.priors import Mixture


def probability(prior, sequence):
    """That the people are in these categories, in this order."""
    if isinstance(prior, Mixture):
        parts = zip(prior.priors, prior.weights, strict=True)
        return sum(w * probability(each, sequence) for each, w in parts)
    counts = {name: sequence.count(name) for name in set(sequence)}
    return math.exp(prior.log_evidence(counts))


def posterior(prior, people, published):
    """P(the first person's category | what `published` says of a sequence is true)."""
    found = dict.fromkeys(prior.categories, 0.0)
    for sequence in product(prior.categories, repeat=people):
        if published(sequence):
            found[sequence[0]] += probability(prior, sequence)
    total = sum(found.values())
    return {name: p / total for name, p in found.items()}
