"""What an intruder believes of a table, under one model or many, and what refusals tell.

Dobra, Fienberg & Trottini 2003, sections 4 and 5.
"""

from discreet.intruder.belief.belief import Belief
from discreet.intruder.posterior.average.average import Average, average_posterior
from discreet.intruder.posterior.average.evidence import evidence
from discreet.intruder.posterior.average.hyper_dirichlet import log_marginal
from discreet.intruder.posterior.average.sensitivity import PriorSensitivity, prior_sensitivity
from discreet.intruder.posterior.chains.basis import MarkovBasis, markov_basis
from discreet.intruder.posterior.chains.chains import chain_posterior
from discreet.intruder.posterior.population import PopulationPosterior
from discreet.intruder.posterior.posterior import posterior
from discreet.intruder.posterior.result import Posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.refusals.refusals import RefusalPosterior, refusal_posterior
from discreet.models.loglinear import Fit, LogLinear
from discreet.models.select import ModelSearch, fitting_model
from discreet.models.space import decomposable_models, hierarchical_models, model_priors

__all__ = [
    "Average", "Belief", "CellWeights", "Fit", "LogLinear", "MarkovBasis", "ModelSearch",
    "PopulationPosterior", "Posterior", "PriorSensitivity", "RefusalPosterior",
    "average_posterior", "chain_posterior", "decomposable_models", "evidence", "fitting_model",
    "hierarchical_models", "log_marginal", "markov_basis", "model_priors", "posterior",
    "prior_sensitivity", "refusal_posterior",
]  # fmt: skip
