"""How little is known: uncertainty functions, what releases teach, and against whom a rule holds.

Duncan & Lambert 1986.
"""

from discreet.intruder.predictive.categories import census, sampled
from discreet.intruder.predictive.families import AnyFamily, Gamma, LogNormal, Pareto
from discreet.intruder.predictive.hidden import merged, suppressed
from discreet.intruder.predictive.incidence import (
    dominance_bound,
    incidents,
    incidents_before,
    incidents_by_exposure,
    least_companies,
    least_rate,
)
from discreet.intruder.predictive.priors import Dirichlet, Independent, Mixture
from discreet.intruder.predictive.totals import (
    pareto_alpha,
    value_given_total,
    value_under_prior,
)
from discreet.risk.knowledge.intruders import (
    census_standard,
    most_before,
    most_inside,
    outsiders,
    pareto_alphas,
    splits,
    suppressed_shares,
    withstood,
)
from discreet.risk.knowledge.knowledge import (
    KnowledgeRule,
    Learned,
    Measure,
    knowledge_gain,
    relative_gain,
)
from discreet.risk.knowledge.taught import (
    Rates,
    Taught,
    Totals,
    taught_by_rates,
    taught_by_table,
    taught_by_totals,
)
from discreet.risk.uncertainty import (
    Absolute,
    Best,
    ByProbability,
    Entropy,
    Largest,
    Lengths,
    Loss,
    RelativeError,
    TwoSided,
    Uncertainty,
    Variance,
    Weighted,
    variation,
)
from discreet.risk.uncertainty.named import uncertainty_named

__all__ = [
    "Absolute", "AnyFamily", "Best", "ByProbability", "Dirichlet", "Entropy", "Gamma",
    "Independent", "KnowledgeRule", "Largest", "Learned", "Lengths", "LogNormal", "Loss",
    "Measure", "Mixture", "Pareto", "Rates", "RelativeError", "Taught", "Totals", "TwoSided",
    "Uncertainty", "Variance", "Weighted", "census", "census_standard", "dominance_bound",
    "incidents", "incidents_before", "incidents_by_exposure", "knowledge_gain", "least_companies",
    "least_rate", "merged", "most_before", "most_inside", "outsiders", "pareto_alpha",
    "pareto_alphas", "relative_gain", "sampled", "splits", "suppressed", "suppressed_shares",
    "taught_by_rates", "taught_by_table", "taught_by_totals", "uncertainty_named",
    "value_given_total", "value_under_prior", "variation",
    "withstood",
]  # fmt: skip
