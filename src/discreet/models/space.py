"""The hierarchical models that contain a release: all of them, or the decomposable ones.

A model contains a release if each released margin is within one of its own. The smallest is the
one whose sufficient statistics are the release, the largest the saturated one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np

from discreet.errors import DataError
from discreet.models.neighbours import separates, toggle
from discreet.table.formula import Formula
from discreet.table.graph import Graph
from discreet.table.lattice import bits, children, closure, maximal

MOST_MODELS = 100
MOST_GRAPHS = 20_000  # that are listed to be counted
LESS = math.log(2)  # that a free parameter more takes from the log of a prior
BY = ("model", "uniform", "size", "parameters")
Score = Callable[[Formula], float]  # the log of a model's weight


def hierarchical_models(release: Formula, *, most: int = MOST_MODELS) -> tuple[Formula, ...] | None:
    """Every hierarchical model that contains the release, fewest terms first; None if too many.

    >>> release = Formula.parse("Race*Income + Income*Gender", ["Gender", "Race", "Income"])
    >>> for model in hierarchical_models(release): print(model)
    Race*Income + Gender*Income
    Gender*Race + Gender*Income + Race*Income
    Gender*Race*Income
    """
    k = len(release.names)
    start = frozenset(closure(release.sets))
    found, layer = {start}, [start]
    while layer:
        following = []
        for terms in layer:
            for s in _addable(terms, k):
                new = terms | {s}
                if new not in found:
                    found.add(new)
                    following.append(new)
                if len(found) > most:
                    return None
        layer = following
    ordered = sorted(found, key=lambda terms: (len(terms), sorted(terms)))
    return (release.frontier, *(Formula(release.names, maximal(t)) for t in ordered[1:]))


def _addable(terms: frozenset[int], k: int) -> Iterator[int]:
    """Sets that are not in, and of which every child is."""
    near = {t | 1 << p for t in terms for p in range(k)} | {1 << p for p in range(k)}
    for s in sorted(near - terms):
        if all(child in terms for child in children(s) if child):
            yield s


def decomposable_models(
    release: Formula, score: Score, *, steps: int = 2_000, seed: int = 0, most: int = MOST_MODELS
) -> tuple[Formula, ...]:
    """The decomposable models that contain the release, and the release's own model first.

    All of them where they are few; else those that a reversible walk over single edges looked at,
    of which the `most` best by `score` are kept (Madigan & York 1995; Giudici & Green 1999).

    >>> import discreet as dc
    >>> release = dc.Release.margins(dc.load("example:tract"), "Race*Income + Gender")
    >>> for model in dc.beliefs.decomposable_models(
    ...     release.formula, lambda model: dc.beliefs.log_marginal(release, model)):
    ...     print(model)
    Race*Income + Gender
    Gender*Race + Race*Income
    Gender*Income + Race*Income
    Gender*Race*Income
    """
    kept = release.graph
    first = kept.minimal_triangulation()
    graphs = _all(first, kept, most)
    if graphs is None:
        graphs = _walk(first, kept, lambda g: score(_formula(g, release)), steps, seed, most)
    models = [_formula(graph, release) for graph in graphs]
    own = set(closure(release.sets))
    others = [model for model in models if closure(model.sets) != own]
    return (release.frontier, *sorted(others, key=lambda m: (len(closure(m.sets)), m.sets)))


def _formula(graph: Graph, release: Formula) -> Formula:
    """Cliques; a variable that is alone and not released stays out of the model."""
    spoken = closure(release.sets)
    return Formula(
        release.names,
        tuple(s for s in graph.cliques() if s.bit_count() > 1 or s in spoken),
    )


def neighbours(graph: Graph, kept: Graph) -> list[Graph]:
    """The chordal graphs with one edge more, or one less that is not in `kept`."""
    found = []
    for u, v in combinations(range(len(graph.neighbours)), 2):
        shared = graph.neighbours[u] & graph.neighbours[v]
        joined = graph.neighbours[u] >> v & 1
        held = kept.neighbours[u] >> v & 1
        if (joined and not held and graph.is_complete(shared)) or (
            not joined and separates(graph, shared, u, v)
        ):
            found.append(toggle(graph, u, v))
    return found


def _all(first: Graph, kept: Graph, most: int) -> list[Graph] | None:
    found, fresh = {first}, [first]
    while fresh:
        near = [g for graph in fresh for g in neighbours(graph, kept)]
        fresh = [g for g in dict.fromkeys(near) if g not in found]
        found.update(fresh)
        if len(found) > most:
            return None
    return list(found)


def _walk(
    first: Graph, kept: Graph, score: Callable[[Graph], float], steps: int, seed: int, most: int
) -> list[Graph]:
    """Metropolis and Hastings: a neighbour is taken with its weight, corrected for its own."""
    rng = np.random.default_rng(seed)
    at, near = first, neighbours(first, kept)
    scores = {first: score(first)}
    for _ in range(steps):
        new = near[int(rng.integers(len(near)))]
        if new not in scores:
            scores[new] = score(new)
        back = neighbours(new, kept)
        log_ratio = scores[new] - scores[at] + math.log(len(near) / len(back))
        if math.log(rng.random()) < log_ratio:
            at, near = new, back
    ranked = sorted(scores, key=lambda graph: -scores[graph])
    return [graph for graph in ranked if np.isfinite(scores[graph])][:most]


def decomposable_graphs(release: Formula, *, most: int = MOST_GRAPHS) -> list[Graph] | None:
    """The graphs of all decomposable models that contain the release; None if too many.

    >>> release = Formula.parse("Race*Income + Gender", ["Gender", "Race", "Income"])
    >>> len(decomposable_graphs(release))
    4
    """
    kept = release.graph
    return _all(kept.minimal_triangulation(), kept, most)


def model_priors(
    models: Sequence[Formula],
    by: str | Sequence[float] = "model",
    *,
    sizes: Sequence[int] | None = None,
) -> list[float]:
    """Prior probabilities: each model alike, each size alike, fewer parameters better, or as given.

    By `model` (or `uniform`) each is alike; by `size` each number of terms is alike, and the
    models of a size among themselves; by `parameters` every free parameter more halves it, for
    which the `sizes` of the variables are needed.

    >>> import discreet as dc
    >>> names = ["Gender", "Race", "Income"]
    >>> models = [dc.Formula.parse(text, names) for text in ("Gender*Race + Income",
    ...     "Gender*Income + Race", "Gender*Race*Income")]
    >>> dc.beliefs.model_priors(models, "size")
    [0.25, 0.25, 0.5]
    >>> dc.beliefs.model_priors(models, "parameters", sizes=[2, 3, 4])
    [0.6666531035745529, 0.33332655178727644, 2.0344638170610144e-05]
    """
    if isinstance(by, str):
        if by not in BY:
            raise DataError(f"there is no prior by {by!r}; choose {', '.join(BY)}, or numbers.")
        if by == "parameters" and sizes is None:
            raise DataError("a prior by parameters needs the sizes of the variables; give them.")
        if by == "parameters":
            logs = [-LESS * parameters(model, sizes or ()) for model in models]
            given = [math.exp(log - max(logs)) for log in logs]
            return [p / sum(given) for p in given]
        kinds = [len(closure(model.sets)) if by == "size" else 0 for model in models]
        times = Counter(kinds)
        return [1 / len(times) / times[kind] for kind in kinds]
    given = [float(p) for p in by]
    if len(given) != len(models) or not all(0 <= p < math.inf for p in given) or not sum(given) > 0:
        raise DataError(
            f"{len(given)} prior probabilities for {len(models)} models; give one from 0 on for "
            "each, not all 0."
        )
    return [p / sum(given) for p in given]


def parameters(model: Formula, sizes: Sequence[int]) -> int:
    """How many free parameters a model has, the total left out.

    >>> parameters(Formula.parse("Race*Income + Gender", ["Gender", "Race", "Income"]), [2, 3, 3])
    9
    """
    return sum(math.prod(sizes[p] - 1 for p in bits(s)) for s in closure(model.sets) if s)
