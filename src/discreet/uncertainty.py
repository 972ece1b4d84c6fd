"""How little is known: uncertainty functions, what releases teach, and against whom a rule holds.

Duncan & Lambert 1986.
"""

from discreet.data.values import Values
from discreet.intruder.belief.valued import Within
from discreet.intruder.predictive.categories import census, sampled
from discreet.intruder.predictive.elicit import ElicitedPrior, elicit_shares, elicit_table
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
from discreet.intruder.predictive.quantiles import FittedPrior, elicit_quantiles
from discreet.intruder.predictive.totals import (
    pareto_alpha,
    sum_density,
    value_given_total,
    value_under_prior,
)
from discreet.risk.knowledge.alphas import AlphaClasses, alpha_classes
from discreet.risk.knowledge.dominance import (
    CompaniesRule,
    LargestRule,
    WorstRelative,
    cell_rule,
    dominance_rule,
    p_rule,
)
from discreet.risk.knowledge.hiding import withheld
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
from discreet.risk.knowledge.reach import Priors
from discreet.risk.knowledge.ruled import RuledTaught, RuleVerdict, with_rules
from discreet.risk.knowledge.taught import (
    Rates,
    Taught,
    Totals,
    taught_by_rates,
    taught_by_table,
    taught_by_totals,
)
from discreet.risk.knowledge.withheld import Withheld
from discreet.risk.uncertainty import (
    Absolute,
    Best,
    ByProbability,
    Entropy,
    Largest,
    Lengths,
    Loss,
    LossAtValues,
    OnValues,
    OverUnder,
    RelativeError,
    TwoSided,
    Uncertainty,
    Variance,
    Weighted,
    inverse_moments,
    on_values,
    variation,
)
from discreet.risk.uncertainty.named import uncertainty_named

__all__ = [
    "Absolute", "AlphaClasses", "AnyFamily", "Best", "ByProbability", "CompaniesRule", "Dirichlet",
    "ElicitedPrior", "Entropy", "FittedPrior", "Gamma", "Independent", "KnowledgeRule", "Largest",
    "LargestRule", "Learned", "Lengths", "LogNormal", "Loss", "LossAtValues", "Measure", "Mixture",
    "OnValues", "OverUnder", "Pareto", "Priors", "Rates", "RelativeError", "RuleVerdict",
    "RuledTaught", "Taught", "Totals", "TwoSided", "Uncertainty", "Values", "Variance", "Weighted",
    "Withheld", "Within", "WorstRelative", "alpha_classes", "cell_rule", "census",
    "census_standard", "dominance_bound", "dominance_rule", "elicit_quantiles", "elicit_shares",
    "elicit_table", "incidents", "incidents_before", "incidents_by_exposure", "inverse_moments",
    "knowledge_gain", "least_companies", "least_rate", "merged", "most_before", "most_inside",
    "on_values", "outsiders", "p_rule", "pareto_alpha", "pareto_alphas", "relative_gain", "sampled",
    "splits", "sum_density", "suppressed", "suppressed_shares", "taught_by_rates",
    "taught_by_table", "taught_by_totals", "uncertainty_named", "value_given_total",
    "value_under_prior", "variation", "with_rules", "withheld", "withstood",
]  # fmt: skip
