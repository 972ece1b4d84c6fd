"""How well a model predicts a release: its marginal likelihood, exact where there is a way.

Released separators S cut a model into parts P that are independent given them,

    P(release | model)  =  prod_P P(release in P | model in P)  /  prod_S DM(n_S; a_S)

A part that is one margin of the model is a sum of Dirichlet-multinomial probabilities over the
tables that fit; so a decomposable model whose separators are released is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.effort import Clock, Seconds
from discreet.intruder.posterior.average.parameters import Target, log_predictive, log_release
from discreet.intruder.posterior.chains.augment import containing
from discreet.intruder.posterior.exact.blocks import Blocks
from discreet.intruder.posterior.exact.fibre import Fibre
from discreet.intruder.posterior.weights import CellWeights
from discreet.look.result import Unpublished
from discreet.models.bayes import checked_hyper
from discreet.release.doors import of_release
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.graph import _merge, components
from discreet.table.lattice import bits, maximal


@dataclass(frozen=True)
class Evidence(Unpublished):
    """The log of a probability of the release, its standard error, and how it was found."""

    log: float
    error: float
    method: str


@of_release
def evidence(
    release: Release,
    formula: str | Formula,
    *,
    prior: ArrayLike = 0.5,
    error: float = 0.005,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
    blocks: Blocks | None = None,
) -> Evidence:
    """log P(release | model) under the constrained Dirichlet prior.

    >>> from discreet.table.load import load
    >>> release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    >>> found = evidence(release, "Race*Income*Gender")
    >>> round(found.log, 2), found.method
    (-59.7, 'exact')
    """
    model, clock = containing(release, formula), Clock.of(seconds)
    shape = release.axes.sizes
    a = np.broadcast_to(checked_hyper(prior), shape).astype(np.float64)
    whole = (1 << len(shape)) - 1
    nodes: tuple[int, ...] = (whole,)
    separators: tuple[int, ...] = ()
    if not release.known:
        tree = _merge(components(model.sets, len(shape)), lambda s: _within(s, release.formula))
        nodes, separators = tree.nodes, tree.separators
    log, variance, sampled = 0.0, 0.0, False
    for node in nodes:
        if not any(node & s for s in release.formula.sets):
            continue  # nothing is released of it
        part = release if node == whole else _part(release, node)
        held = blocks if node == whole else None
        sets = maximal([s & node for s in model.sets if s & node])
        own = a.sum(tuple(p for p in range(len(shape)) if not node >> p & 1))
        if sets == (node,):
            log += _saturated(part, own, effort, clock)
            continue
        names = release.axes.names_of(node)
        local = Formula.of([release.axes.names_of(s) for s in sets], names)
        target = Target.of(part, local, own, held, clock)
        found, off = log_release(target, error=error, effort=effort, seconds=clock, seed=seed)
        log, variance, sampled = log + found, variance + off**2, True
    for s in separators:
        if s:
            rest = tuple(p for p in range(len(shape)) if not s >> p & 1)
            log -= _saturated(_part(release, s), a.sum(rest), effort, clock)
    return Evidence(log, math.sqrt(variance), "sampled" if sampled else "exact")


def predictive(
    release: Release,
    formula: str | Formula,
    *,
    prior: ArrayLike = 0.5,
    error: float = 0.005,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
    blocks: Blocks | None = None,
) -> Evidence:
    """The paper's weight of a model: the probability of a second release just like this one.

    The mean of P(release | theta) over the posterior of theta, which uses the release twice
    (Dobra, Fienberg & Trottini 2003, section 5.3).
    """
    clock = Clock.of(seconds)
    target = Target.of(release, containing(release, formula), prior, blocks, clock)
    log, off = log_predictive(target, error=error, effort=effort, seconds=clock, seed=seed)
    return Evidence(log, off, "sampled")


def _within(s: int, formula: Formula) -> bool:
    return any(not s & ~margin for margin in formula.sets)


def _part(release: Release, node: int) -> Release:
    """What is released of some variables."""
    sets = maximal([s & node for s in release.formula.sets if s & node])
    tables = [release.table(release.axes.names_of(s)) for s in sets]
    return Release.of(tables, [release.variables[p] for p in bits(node)])


def _saturated(release: Release, prior: Floats, effort: float, clock: Clock) -> float:
    """log P(release) under a Dirichlet prior: a sum over the tables that fit."""
    from scipy.special import gammaln

    total, whole = int(release.total or 0), float(prior.sum())
    fibre = Fibre.of(release, CellWeights.dirichlet(prior), effort=effort, seconds=clock)
    ends = gammaln(total + 1.0) + gammaln(whole) - gammaln(total + whole)
    return float(ends) + fibre.log_total
