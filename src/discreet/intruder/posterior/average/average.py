"""Beliefs averaged over the models that contain the release (equation 10).

    P(n | release)  =  sum_l P(n | release, model_l) P(model_l | release)

Dobra, Fienberg & Trottini 2003, section 5.3. Models are weighed by the marginal likelihood of the
release; the paper's own weights use the release twice and are an option.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.effort import UNLIMITED, Clock, Effort, Seconds
from discreet.errors import ConvergenceWarning, DataError
from discreet.intruder.posterior.average.clique_margins import LogPrior
from discreet.intruder.posterior.average.evidence import Evidence, evidence, predictive
from discreet.intruder.posterior.average.mixture import Mixture
from discreet.intruder.posterior.average.model_chains import ChainedModels, chain_models
from discreet.intruder.posterior.chains.augment import containing, shown
from discreet.intruder.posterior.exact.blocks import Blocks
from discreet.intruder.posterior.one_model import under_model
from discreet.intruder.posterior.result import MORE, Posterior, chosen
from discreet.intruder.posterior.sampled import Sampled, warn_unless
from discreet.look.progress import track
from discreet.look.words import plural
from discreet.models.space import (
    BY,
    LESS,
    decomposable_graphs,
    decomposable_models,
    hierarchical_models,
    model_priors,
    parameters,
)
from discreet.release.doors import of_release
from discreet.release.release import Release
from discreet.table.cells import Cells, frame
from discreet.table.formula import Formula

Weights = Literal["proper", "paper"]
WAYS = {"proper": evidence, "paper": predictive}
ERROR = 0.005  # of the log of a marginal likelihood
SMALL = 0.0005  # of all weight, that may be left out
MOST_SHOWN = 100
MOST_SCORED = 200  # models that a walk weighs
SCORED, LEAST_WEIGHED = 0.05, 0.025  # of the effort, for a model scored, or one of many weighed


@dataclass(frozen=True)
class WeighedModel:
    """A model of the average: prior probability, weight, and what the weight comes from."""

    formula: str
    prior: float | None
    weight: float
    error: float
    evidence: Evidence | None
    posterior: Posterior | None = field(repr=False)

    def to_json(self, prior: str | None) -> dict[str, Any]:
        return {
            "model": self.formula,
            "prior": prior,
            "prior_probability": self.prior,
            "weight": self.weight,
            "weight_error": self.error,
            "log_marginal_likelihood": self.evidence.log if self.evidence else None,
            "log_marginal_likelihood_error": self.evidence.error if self.evidence else None,
            "method": self.posterior.method if self.posterior else None,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Average(Sampled):
    """A posterior averaged over `models`.

    >>> import discreet as dc
    >>> release = dc.Release.margins(dc.load("example:tract"), "Race*Income + Income*Gender")
    >>> found = dc.beliefs.average_posterior(release, standard_error=0.01)
    >>> [model.formula for model in found.models]
    ['Race*Income + Gender*Income', 'Gender*Race + Gender*Income + Race*Income',
        'Gender*Race*Income']
    """

    models: tuple[WeighedModel, ...] = ()

    @property
    def entropy(self) -> float | None:
        """Of the whole table, in nats; None where the tables are too many to list."""
        found = super().entropy
        return None if found is None or math.isnan(found) else found

    def to_json(self, counts: Any = None, **options: Any) -> dict[str, Any]:
        said = super().to_json(counts, **options)
        return said | {"models": [model.to_json(self.prior) for model in self.models]}

    def models_frame(self, kind: str = "pandas") -> Any:
        """One row a model."""
        rows = [model.to_json(self.prior) for model in self.models]
        return frame({name: [row[name] for row in rows] for name in rows[0]}, kind)


@of_release
def average_posterior(
    release: Release,
    cells: Cells | None = None,
    *,
    prior: ArrayLike = 0.5,
    weights: Weights = "proper",
    models: Iterable[str | Formula] | None = None,
    model_prior: str | Sequence[float] = "model",
    standard_error: float = 0.002,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
) -> Average:
    """Beliefs averaged over all hierarchical models that contain the release.

    With too many of those, over the decomposable ones and the model of the release, by chains that
    change model where the tables are too many to list; or over the given `models`. `model_prior`
    is by model (each alike), by size (each number of terms alike), by parameters (every free one
    more halves it), or one number each of the given models.

    >>> from discreet.table.load import load
    >>> release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    >>> found = average_posterior(release, standard_error=0.01)
    >>> [round(model.weight, 1) for model in found.models]
    [0.5, 0.3, 0.1]
    """
    if weights not in WAYS:
        raise DataError(f"weights is {weights!r}; choose {' or '.join(WAYS)}.")
    if not standard_error > 0:
        raise DataError(f"standard_error is {standard_error}; give a number above 0.")
    if isinstance(model_prior, str) and model_prior not in BY:
        raise DataError(f"there is no prior by {model_prior!r}; choose {', '.join(BY)}.")
    clock = Clock.of(seconds)
    cells, blocks = chosen(release, cells), _blocks(release, clock)
    way: dict[str, Any] = {"prior": prior, "seed": seed, "seconds": clock}
    listed = _models(release, models, blocks, effort, way)
    try:
        found = _weigh(release, listed or (), weights, blocks, effort, way)
    except DataError:
        if models is not None or blocks is not None:
            raise
        listed = None  # not every model can be weighed
    if listed is None:
        if weights != "proper" or not isinstance(model_prior, str):
            raise DataError(
                f"{release.formula} leaves more models and tables than can be listed; average with "
                "proper weights and no prior for each model, or name some models."
            )
        before = graph_priors(release, model_prior)
        return _roamed(
            release,
            cells,
            chain_models(release, cells, log_prior=before, standard_error=standard_error,
                         effort=effort, **way),
            prior,
        )  # fmt: skip
    chances = model_priors(listed, model_prior, sizes=release.axes.sizes)
    shares = _shares(chances, found)
    kept = _kept(shares)
    share = float(np.linalg.norm(shares[kept]))  # errors of many models average out
    each = standard_error / (share * math.sqrt(2) if len(kept) > 1 else 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of what counts, the average warns
        parts = {
            place: under_model(release, listed[place], cells, standard_error=each,
                               effort=effort / len(kept), blocks=blocks, **way)
            for place in track(kept, "believing models")
        }  # fmt: skip
    weighed = tuple(
        WeighedModel(str(model), chance, float(shares[place]), _off(shares, found, place),
                     found[place], parts.get(place))
        for place, (model, chance) in enumerate(zip(listed, chances, strict=True))
    )  # fmt: skip
    return _mixed(cells, weighed, blocks, shown(prior), weights, standard_error, clock)


def graph_priors(release: Release, by: str) -> LogPrior | None:
    """The log prior of each decomposable model, by its graph; None if all are alike."""
    if by in ("model", "uniform"):
        return None
    if by == "parameters":
        sizes = release.axes.sizes
        return lru_cache(None)(
            lambda graph: -LESS * parameters(Formula(release.names, graph.cliques()), sizes)
        )
    graphs = decomposable_graphs(release.formula) if release.formula.is_decomposable else []
    if graphs is None:
        raise DataError(
            f"{release.formula} leaves too many models to count those of each {by}; take the "
            "models as alike, or name some."
        )
    named = [Formula(release.names, graph.cliques()) for graph in graphs]
    chances = model_priors(named, by, sizes=release.axes.sizes)
    logs = {graph: math.log(p) for graph, p in zip(graphs, chances, strict=True)}
    return logs.__getitem__


def reweigh(
    found: Average, release: Release, model_prior: str | Sequence[float], *, standard_error: float
) -> Average | None:
    """The same models under another prior; None where a model that now counts was left out."""
    evidences = [model.evidence for model in found.models if model.evidence is not None]
    if not found.models or len(evidences) < len(found.models):
        return None
    named = [containing(release, model.formula) for model in found.models]
    chances = model_priors(named, model_prior, sizes=release.axes.sizes)
    shares = _shares(chances, evidences)
    if any(model.posterior is None for place, model in enumerate(found.models)
           if place in _kept(shares)):  # fmt: skip
        return None
    weighed = tuple(
        replace(model, prior=chance, weight=float(shares[place]),
                error=_off(shares, evidences, place))
        for place, (model, chance) in enumerate(zip(found.models, chances, strict=True))
    )  # fmt: skip
    cells = Cells(found.variables, found.codes, np.zeros(len(found), np.int64))
    blocks = found.whole.blocks if isinstance(found.whole, Mixture) else None
    weights = str(found.notes.get("weights", "proper"))
    return _mixed(cells, weighed, blocks, found.prior, weights, standard_error, UNLIMITED)


def _models(
    release: Release, models: Iterable[str | Formula] | None, blocks: Blocks | None,
    effort: float, way: dict[str, Any],
) -> tuple[Formula, ...] | None:  # fmt: skip
    """The models to average; None if neither they nor the tables can be listed."""
    if models is not None:
        named = tuple(containing(release, model) for model in models)
        if not named or len({frozenset(m.sets) for m in named}) < len(named):
            raise DataError(f"{len(named)} models to average; list each once, at least one.")
        return named
    listed = hierarchical_models(release.formula)
    if listed is not None or blocks is None:
        return listed
    left = iter(range(Effort(effort).of(MOST_SCORED)))

    def score(model: Formula) -> float:
        if next(left, None) is None:
            return -math.inf
        found = evidence(release, model, error=0.1, effort=SCORED * effort, blocks=blocks, **way)
        return found.log

    return decomposable_models(release.formula, score, seed=way["seed"])


def _weigh(
    release: Release, listed: Sequence[Formula], weights: Weights, blocks: Blocks | None,
    effort: float, way: dict[str, Any],
) -> list[Evidence]:  # fmt: skip
    error = ERROR if weights == "proper" else 2 * ERROR
    each = effort * max(LEAST_WEIGHED, 1 / max(1, len(listed)))
    return [
        WAYS[weights](release, model, error=error, effort=each, blocks=blocks, **way)
        for model in track(listed, "weighing models")
    ]


def _off(shares: Floats, found: Sequence[Evidence], place: int) -> float:
    """The standard error of a weight, by the delta method."""
    off = np.array([e.error for e in found])
    slope = -shares * shares[place]
    slope[place] += shares[place]
    return float(np.linalg.norm(slope * off))


def _roamed(release: Release, cells: Cells, found: ChainedModels, prior: ArrayLike) -> Average:
    """Chains that changed model too: their draws, and how often each model was visited."""
    worth = np.broadcast_to(found.convergence.effective, len(cells))
    errors = [
        np.sqrt(np.maximum(mass * (1 - mass), 0.25 / n) / n)
        for mass, n in zip(found.mass, worth, strict=True)
    ]
    models = tuple(
        WeighedModel(str(model), None, share, off, None, None)
        for model, (share, off) in list(found.visits.items())[:MOST_SHOWN]
    )
    made = Average.made(
        cells, found.mass, errors, low=found.low, model="average", prior=shown(prior),
        method=f"average over decomposable models, {len(found.visits):,} visited, {found.method}",
        models=models, convergence=found.convergence, stopped=found.stopped,
        notes={"reached": found.convergence.converged, "weights": "proper"},
    )  # fmt: skip
    assert isinstance(made, Average)
    return made


def _blocks(release: Release, clock: Clock) -> Blocks | None:
    """Listed once for all models; None if only models that need no list can be asked."""
    try:
        return Blocks.of(release, clock=clock)
    except DataError:
        return None


def _shares(chances: Sequence[float], found: Sequence[Evidence]) -> Floats:
    with np.errstate(divide="ignore", under="ignore"):
        logs = np.log(chances) + np.array([e.log for e in found])
        share = np.exp(logs - logs.max())
    return np.asarray(share / share.sum())


def _kept(shares: Floats) -> list[int]:
    """The models that count: all but the smallest, which together have hardly any weight."""
    order = np.argsort(shares, kind="stable")
    few = order[np.cumsum(shares[order]) <= SMALL]
    return [place for place in range(len(shares)) if place not in set(few.tolist())]


def _mixed(
    cells: Cells, weighed: tuple[WeighedModel, ...], blocks: Blocks | None, prior: str | None,
    weights: str, standard_error: float, clock: Clock,
) -> Average:  # fmt: skip
    parts = [
        (m.weight, m.evidence.error, m.posterior)
        for m in weighed
        if m.posterior is not None and m.evidence is not None
    ]
    total = sum(w for w, _, _ in parts)
    shares = np.array([w for w, _, _ in parts]) / total
    off = np.array([e for _, e, _ in parts])
    masses, errors = [], []
    low = np.min([p.low for _, _, p in parts], axis=0)
    for row in range(len(cells)):
        first = [int(p.low[row] - low[row]) for _, _, p in parts]
        sizes = [int(p.starts[row + 1] - p.starts[row]) for _, _, p in parts]
        ends = [a + size for a, size in zip(first, sizes, strict=True)]
        mass, own = np.zeros((2, len(parts), max(ends)))
        for place, (_, _, p) in enumerate(parts):
            values = slice(first[place], ends[place])
            mass[place, values] = p.mass[p.starts[row] : p.starts[row + 1]]
            own[place, values] = _errors(p, row)
        mean = shares @ mass
        variance = shares**2 @ own**2 + shares**2 @ ((mass - mean) * off[:, None]) ** 2
        masses.append(mean)
        errors.append(np.sqrt(variance))
    largest = max((float(e.max()) for e in errors), default=0.0)
    apart = [p.model for _, _, p in parts if p.convergence and not p.convergence.converged]
    reached = largest <= standard_error and not apart
    method = f"average over {len(weighed)} models, {weights} weights"
    method += warn_unless(largest <= standard_error, standard_error, largest, "the average", clock)
    if apart:
        said = f"the chains of {plural(len(apart), 'model')} have not converged: {apart[0]}"
        more = "seconds" if clock.stopped else "effort"
        warnings.warn(f"{said}; allow more {more}.", ConvergenceWarning, stacklevel=3)
        method += f", NOT CONVERGED: {said}"
    wholes = [p.whole for _, _, p in parts]
    whole = Mixture(tuple(shares.tolist()), tuple(w for w in wholes if w is not None), blocks)
    made = Average.made(
        cells, masses, errors, low=low, model="average", prior=prior, method=method,
        whole=whole if None not in wholes else None, models=weighed,
        stopped=clock.sentence(f"an average over {len(parts)} models", MORE),
        notes={"reached": reached, "weights": weights, "left_out": max(0.0, 1 - total)},
    )  # fmt: skip
    assert isinstance(made, Average)
    return made


def _errors(posterior: Posterior, row: int) -> Floats:
    if isinstance(posterior, Sampled):
        return posterior.errors[posterior.starts[row] : posterior.starts[row + 1]]
    belief = posterior[row]
    return np.array([belief.standard_error(value) for value in belief.values])
