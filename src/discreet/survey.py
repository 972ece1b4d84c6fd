"""Which cells of a survey's tables to publish (Zaslavsky & Horton 1998)."""

from discreet.data.domains import Domains, read_domains
from discreet.decision.survey.by_policy import publish_by
from discreet.decision.survey.cell_losses import (
    CellLoss,
    CellLossWarning,
    disclosure_loss,
    nonpublication_loss,
)
from discreet.decision.survey.combine import Combination, combine
from discreet.decision.survey.curve import Curve
from discreet.decision.survey.edges import Edges, edges
from discreet.decision.survey.flips import Flips, flips
from discreet.decision.survey.plan import plan, plan_table
from discreet.decision.survey.plugin import PlugIn, plug_in
from discreet.decision.survey.publish import Publication, publish
from discreet.decision.survey.taylor import Taylor, taylor
from discreet.decision.survey.totals import GuardedTotals, guard_totals
from discreet.intruder.population.population import (
    PopulationBeliefs,
    Rehearsal,
    population_beliefs,
    rehearse,
)
from discreet.intruder.population.sample_cell import PopulationCounts
from discreet.models.domain_shares import BetaFit, fit_beta
from discreet.models.subclasses import SubclassFit, fit_subclasses

__all__ = [
    "BetaFit", "CellLoss", "CellLossWarning", "Combination", "Curve", "Domains", "Edges",
    "Flips", "GuardedTotals", "PlugIn", "PopulationBeliefs", "PopulationCounts", "Publication",
    "Rehearsal", "SubclassFit", "Taylor", "combine", "disclosure_loss", "edges", "fit_beta",
    "fit_subclasses", "flips", "guard_totals", "nonpublication_loss", "plan", "plan_table",
    "plug_in", "population_beliefs", "publish", "publish_by", "read_domains", "rehearse",
    "taylor",
]  # fmt: skip
