"""Which cells of a survey's tables to publish (Zaslavsky & Horton 1998)."""

from discreet.data.domains import Domains, read_domains
from discreet.decision.survey.cell_losses import (
    CellLoss,
    CellLossWarning,
    disclosure_loss,
    nonpublication_loss,
)
from discreet.decision.survey.combine import Combination, combine
from discreet.decision.survey.curve import Curve
from discreet.decision.survey.plan import plan, plan_table
from discreet.decision.survey.plugin import PlugIn, plug_in
from discreet.decision.survey.publish import Publication, publish
from discreet.intruder.population.population import (
    PopulationBeliefs,
    Rehearsal,
    population_beliefs,
    rehearse,
)
from discreet.intruder.population.sample_cell import PopulationCounts
from discreet.models.domain_shares import BetaFit, fit_beta

__all__ = [
    "BetaFit", "CellLoss", "CellLossWarning", "Combination", "Curve", "Domains", "PlugIn",
    "PopulationBeliefs", "PopulationCounts", "Publication", "Rehearsal", "combine",
    "disclosure_loss", "fit_beta", "nonpublication_loss", "plan", "plan_table", "plug_in",
    "population_beliefs", "publish", "read_domains", "rehearse",
]  # fmt: skip
