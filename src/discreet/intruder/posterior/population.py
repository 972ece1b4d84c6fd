"""Beliefs about the population behind a table that is a sample of it.

Of N people n are sampled at random, and the margins of the sample are released. People fall into
cells alike, with the probabilities theta of the intruder's model; N is known. So

    P(N(i) | release)  =  sum over n(i)  P(n(i) | release) P(N(i) - n(i) | n(i), release)

and under a Dirichlet prior with parameters a, of sum A, the people outside the sample have

    N(i) - n(i) | n(i)  ~  beta-binomial(N - n;  a(i) + n(i),  A - a(i) + n - n(i))

Under the decomposable model of the release, theta and n(i) are independent given it, and theta(i)
is a product of independent beta variables, one a clique: the rest is thinned by one after the
other. Dobra, Fienberg & Trottini 2003, sections 1 and 6, ask for this; the formulas follow from
Dawid & Lauritzen 1993.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.posterior.below import Below
from discreet.intruder.posterior.chains.augment import shown
from discreet.intruder.posterior.method import Question
from discreet.intruder.posterior.result import LEAST, Posterior, chosen, held
from discreet.intruder.posterior.sampled import Sampled
from discreet.models.bayes import bipf, checked_hyper
from discreet.models.ipf import ipf
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.keys import unravel
from discreet.table.lattice import bits

DRAWS = 4_000  # of theta
FEWEST = 200  # of them, where a cell has many counts
AT_ONCE = 1 << 22  # numbers
MOST_SUMMED = 1 << 24
TAIL = 1e-13  # of a belief that is cut off, either way
SPREAD = 12.0  # standard deviations that are looked at
MOST_PEOPLE = 1 << 40
SURELY = 1e-12  # a parameter of nobody: everybody is in the cell


@dataclass(frozen=True, eq=False, repr=False)
class PopulationPosterior(Sampled):
    """The distribution of each cell's count in the population; `sample` has those in the sample.

    `people` are in the population, a share `fraction` of them in the sample.

    >>> import discreet as dc
    >>> table = dc.load("example:tract")
    >>> found = dc.posterior(
    ...     table, "Race*Income + Income*Gender", cells=table.small(), fraction=0.1)
    >>> found
    PopulationPosterior(4 of 18 cells over Gender, Race, Income: saturated, prior 0.5; 742 of 7,420
    people sampled; exact, 59,400 tables)
    >>> found.unique.round(3), found.uniques.round(3)
    (array([0.087, 0.061, 0.062, 0.062]), array([0.032, 0.032, 0.032, 0.032]))
    >>> found.sample.probability(table.small().counts).round(3)
    array([0.501, 0.25 , 0.372, 0.25 ])
    """

    sample: Posterior | None = None
    fraction: float = 1.0
    people: int = 0
    sampled: int = 0
    uniques: Floats = field(default_factory=lambda: np.zeros(0))
    question: Question | None = field(default=None, repr=False)

    @property
    def unique(self) -> Floats:
        """P(N(i) = 1 | release): what the intruder believes.

        `uniques` are P(N(i) = 1 | n(i) = 1, release): that a sample unique is a population unique.
        """
        return self.probability(1)

    def at_most(self, count: int) -> Floats:
        """P(N(i) <= count | release)."""
        return np.asarray(self.matrix(count).sum(1))

    def take(self, rows: Sequence[int] | Ints) -> Self:
        """The beliefs about some of the cells."""
        listed = [int(row) for row in rows]
        sample = None if self.sample is None else self.sample.take(listed)
        question = self.question
        if question is not None:
            cells = chosen(question.release, question.cells).take(np.array(listed, np.int64))
            question = dataclasses.replace(question, cells=cells)
        return dataclasses.replace(
            super().take(rows), sample=sample, uniques=self.uniques[listed], question=question
        )

    def given(self, counts: ArrayLike) -> PopulationPosterior:
        """The beliefs of somebody who knows the counts of the cells in the sample."""
        assert self.question is not None
        assert self.sample is not None
        known = np.broadcast_to(np.asarray(counts, np.int64), len(self))
        cells = Cells(self.variables, self.codes, known)
        sure = Posterior.of(
            cells, [np.ones(1)] * len(self), low=known, model=self.sample.model,
            prior=self.sample.prior, method="exact, counts of the sample known",
        )  # fmt: skip
        return populate(self.question, sure, self.fraction)

    def __repr__(self) -> str:
        said = super().__repr__().replace("Posterior(", "PopulationPosterior(", 1)
        sampled = f"{self.sampled:,} of {self.people:,} people sampled"
        return said.replace("; ", f"; {sampled}; ", 1)

    def to_frame(self, kind: str = "pandas", *, counts: Ints | None = None, most: int = 2) -> Any:
        """One row a cell: the sample's count if it is given, and beliefs about the population."""
        found = super().to_frame("pandas", counts=counts, most=most)
        found["unique_if_sample_unique"] = self.uniques
        if kind == "pandas":
            return found
        from discreet.table.cells import frame

        return frame({str(name): found[name].to_numpy() for name in found}, kind)

    def to_json(self, counts: Ints | None = None, *, least: float = LEAST) -> dict[str, Any]:
        """The sample's document; with beliefs about the population beside those of each cell."""
        assert self.sample is not None
        said, own = self.sample.to_json(counts, least=least), super().to_json(least=least)
        for row, (cell, other) in enumerate(zip(said["cells"], own["cells"], strict=True)):
            cell["population"] = {
                "probabilities": other["probabilities"],
                "mean": float(self.mean[row]),
                "unique": float(self.unique[row]),
                "unique_if_sample_unique": float(self.uniques[row]),
            }
        return said | {
            "population": {
                "fraction": self.fraction,
                "people": self.people,
                "sampled": self.sampled,
                "diagnostics": own["diagnostics"],
            }
        }


def size_of(sampled: int, fraction: float) -> int:
    """How many people the population has: n / f, rounded.

    >>> size_of(742, 0.1)
    7420
    """
    if isinstance(fraction, bool) or not 0 < fraction <= 1:
        raise DataError(f"the sampling fraction is {fraction!r}; give a number above 0, at most 1.")
    if sampled / fraction > MOST_PEOPLE:
        raise DataError(f"the sampling fraction {fraction!r} makes more people than there are.")
    return round(sampled / fraction)


def believable(question: Question) -> str | None:
    """None if the population can be believed about under this model; else why not."""
    if any(known.upper == 0 for known in question.release.known):
        return (
            "cells that are known to be empty may be impossible in the population too, or not; "
            "leave them out to believe about the population."
        )
    weights = question.cell_weights
    if question.closed or (weights is not None and weights.name in ("saturated", "uniform")):
        return None
    return (
        f"under {question.model} the population is not believed about; choose saturated, uniform "
        "or the decomposable model of the release."
    )


def populate(question: Question, sample: Posterior, fraction: float) -> PopulationPosterior:
    """What is believed of the population, from what is believed of the sample."""
    if reason := believable(question):
        raise DataError(reason)
    cells = chosen(question.release, question.cells)
    n = int(question.release.total or 0)
    people = size_of(n, fraction)
    if question.closed:
        found = _thinned(question, cells, sample, n, people)
    else:
        prior = 1.0 if question.model == "uniform" else question.prior
        found = _mixed(question.release, cells, sample, prior, n, people)
    masses, errors, low, uniques, drawn = found
    exact = sample.exact and not drawn
    method = sample.method
    if drawn:
        method = f"sampled, {drawn:,} draws of probabilities; of the sample: {method}"
    made = PopulationPosterior.made(
        cells, masses, errors, low=low, model=sample.model, method=method,
        prior=shown(question.prior) if question.closed else sample.prior,
        convergence=sample.convergence, stopped=sample.stopped, sample=sample,
        fraction=float(fraction), people=people, sampled=n, uniques=uniques, question=question,
    )  # fmt: skip
    assert isinstance(made, PopulationPosterior)
    return dataclasses.replace(made, effective=None) if exact else made


Beliefs = tuple[list[Floats], list[Floats], Ints, Floats, int]


def _mixed(
    release: Release, cells: Cells, sample: Posterior, prior: ArrayLike, n: int, people: int
) -> Beliefs:
    """Beta-binomial given each count in the sample; exact if the sample's beliefs are."""
    own, whole = _hyper(release, cells, prior)
    rest, masses, errors, low = people - n, [], [], []
    for row in range(len(cells)):
        belief = sample[row]
        counts, chances = belief.values.astype(np.int64), belief.mass
        counts, chances = counts[chances > 0], chances[chances > 0]
        a, b = own[row] + counts, whole - own[row] + n - counts
        ends = np.array([_ends(x, y, rest) for x, y in zip(a, b, strict=True)])
        first, last = int((counts + ends[:, 0]).min()), int((counts + ends[:, 1]).max())
        held(1, float(last - first + 1) * min(len(counts), 64), AT_ONCE * 8)
        at = np.arange(first, last + 1)
        mean, square = np.zeros((2, len(at)))
        for count, chance, x, y in zip(counts, chances, a, b, strict=True):
            each = _beta_binomial(at - count, rest, float(x), float(y))
            mean += chance * each
            square += chance * each**2
        worth = math.inf if sample.exact else float(sample._worth[row])
        masses.append(mean / mean.sum())
        errors.append(np.sqrt(np.maximum(square - mean**2, 0) / worth))
        low.append(first)
    unique = [
        float(_beta_binomial(np.zeros(1, np.int64), rest, x + 1, whole - x + n - 1)[0])
        if n else 0.0
        for x in own
    ]  # fmt: skip
    return masses, errors, np.array(low, np.int64), np.array(unique), 0


def _hyper(release: Release, cells: Cells, prior: ArrayLike) -> tuple[Floats, float]:
    """The Dirichlet parameters of cells of the table or of a margin, and of all together."""
    shape = release.axes.sizes
    a = checked_hyper(prior)
    if a.ndim == 0:
        below = math.prod(shape) / math.prod(cells.shape)
        return np.full(len(cells), float(a) * below), float(a) * math.prod(shape)
    axes = release.axes.places(cells.names)
    rest = tuple(axis for axis in range(len(shape)) if axis not in axes)
    margin = a.sum(rest).transpose(np.argsort(np.argsort(axes)))
    return np.asarray(margin[tuple(cells.codes.T)], np.float64), float(a.sum())


def _ends(a: float, b: float, rest: int) -> tuple[int, int]:
    """Where all but the tails of a beta-binomial lie, by bounds on its spread."""
    from scipy.special import betaincinv

    if b <= SURELY:
        return rest, rest
    low, high = (float(betaincinv(a, b, p)) for p in (TAIL, 1 - TAIL))
    return (
        max(0, math.floor(rest * low - SPREAD * (math.sqrt(rest * low) + 1))),
        min(rest, math.ceil(rest * high + SPREAD * (math.sqrt(rest * high) + 3))),
    )


def _beta_binomial(more: Ints, rest: int | Ints, a: float, b: float) -> Floats:
    """P(so many of the rest); 0 outside."""
    from scipy.special import betaln, gammaln

    inside = (more >= 0) & (more <= rest)
    if b <= SURELY:
        return np.where(more == rest, 1.0, 0.0)
    k, rest = np.where(inside, more, 0).astype(np.float64), np.asarray(rest, np.float64)
    ways = gammaln(rest + 1.0) - gammaln(k + 1) - gammaln(rest - k + 1)
    with np.errstate(under="ignore"):
        return np.where(inside, np.exp(ways + betaln(k + a, rest - k + b) - betaln(a, b)), 0.0)


def _thinned(question: Question, cells: Cells, sample: Posterior, n: int, people: int) -> Beliefs:
    """The rest by what is known of theta, and the sample's counts beside, which tell no more."""
    rest, masses, errors, low, unique = people - n, [], [], [], []
    betas = _betas(question, cells) if set(cells.names) == set(question.release.names) else None
    theta = None if betas is not None else _theta(question, cells)
    rng, drawn = np.random.default_rng(question.seed), 0
    for row in range(len(cells)):
        found = None if betas is None else _one_by_one(rest, betas[row])
        if found is None:
            p = _products(betas[row], rng) if betas is not None else theta[:, row]  # type: ignore[index]
            found, drawn = _binomials(rest, p), DRAWS
        first, each, off = found
        own = sample.mass[sample.starts[row] : sample.starts[row + 1]]
        worth = math.inf if sample.exact else float(sample._worth[row])
        with np.errstate(under="ignore"):
            mean, spread = np.convolve(each, own), np.convolve(off, own)
            more = np.convolve(each**2, own) - mean**2
        unique.append(float(each[0]) if first == 0 else 0.0)
        masses.append(mean / mean.sum())
        errors.append(np.sqrt(spread**2 + np.maximum(more, 0) / worth))
        low.append(first + int(sample.low[row]))
    return masses, errors, np.array(low, np.int64), np.array(unique), drawn


Rest = tuple[int, Floats, Floats]  # the first count, probabilities from there on, their errors


def _betas(question: Question, cells: Cells) -> Floats:
    """Cells x cliques x 2: theta(i) is the product of beta variables with these parameters."""
    tree = question.release.formula.frontier.junction_tree
    separators = {j: s for _, j, s in tree.edges}
    found = []
    for place, node in enumerate(tree.nodes):
        own, within = (
            _after(question, cells, node),
            _after(question, cells, separators.get(place, ())),
        )
        found.append(np.stack([own, within - own], 1))
    return np.stack(found, 1)


def _after(question: Question, cells: Cells, names: tuple[str, ...]) -> Floats:
    """a + n of a released margin, at each of the cells."""
    release = question.release
    places = [cells.names.index(name) for name in names]
    part = Cells(
        tuple(cells.variables[p] for p in places), cells.codes[:, places],
        np.zeros(len(cells), np.int64),
    )  # fmt: skip
    own, whole = _hyper(release, part, question.prior)
    if not names:
        return np.full(len(cells), whole + float(release.total or 0))
    table = release.table(names).reorder(names)
    return own + table.lookup(part.codes)


def _one_by_one(rest: int, betas: Floats) -> Rest | None:
    """Exact: what is left of the rest after each clique; None if that is too much to add up."""
    first, mass = rest, np.ones(1)
    for a, b in sorted(betas.tolist(), key=lambda ab: ab[0] / (ab[0] + ab[1])):
        if b <= SURELY:  # all of the separator's cell
            continue
        ends = [_ends(a, b, people) for people in (first, first + len(mass) - 1)]
        low, high = ends[0][0], ends[1][1]
        if (high - low + 1) * len(mass) > MOST_SUMMED:
            return None
        at, left = np.arange(low, high + 1), first + np.arange(len(mass))
        each = _beta_binomial(at[None], left[:, None], float(a), float(b))
        first, mass = low, mass @ each
    return first, mass, np.zeros(len(mass))


def _products(betas: Floats, rng: np.random.Generator) -> Floats:
    """Draws of theta(i)."""
    return np.asarray(
        rng.beta(betas[:, 0], np.maximum(betas[:, 1], SURELY), (DRAWS, len(betas))).prod(1)
    )


def _binomials(rest: int, p: Floats) -> Rest:
    """The rest's mean distribution over draws of a probability."""
    from scipy.stats import binom

    first = max(0, math.floor(rest * p.min() - SPREAD * (math.sqrt(rest * p.min()) + 1)))
    last = min(rest, math.ceil(rest * p.max() + SPREAD * (math.sqrt(rest * p.max()) + 3)))
    at = np.arange(first, last + 1)
    p = p[: max(FEWEST, AT_ONCE // len(at))]  # what spreads far is smooth
    held(1, float(len(at)) * len(p), 8 * AT_ONCE)
    with np.errstate(under="ignore"):
        each = binom.pmf(at[None], rest, p[:, None])
    return first, each.mean(0), each.std(0) / math.sqrt(len(p))


def _theta(question: Question, cells: Cells) -> Floats:
    """Draws x cells, hyper-Dirichlet given the release: one sweep along the junction tree."""
    release = question.release
    shape = release.axes.sizes
    size = math.prod(shape)
    held(size, float(size), 1 << 18)
    a = np.broadcast_to(checked_hyper(question.prior), shape)
    margins = {
        tuple(bits(s)): release.table(release.axes.names_of(s)).dense()
        for s in release.formula.frontier.sets
    }
    hyper = a + ipf(np.ones(shape), margins).array
    tree = release.formula.frontier.graph.junction_tree()
    order = [tuple(bits(s)) for s in tree.nodes]
    rng = np.random.default_rng(question.seed)
    below = Below.of(release.names, unravel(np.arange(size), shape), cells)
    found = []
    at_once = max(1, AT_ONCE // size)
    for start in range(0, DRAWS, at_once):
        some = min(at_once, DRAWS - start)
        even = np.full((some, *shape), 1 / size)
        found.append(below.sums(bipf(even, hyper, order, rng).reshape(some, -1)))
    return np.concatenate(found)
