"""What the functions of discreet give back, for annotations and for checks of types."""

from discreet.decision.compare.compared import Compared
from discreet.decision.frontier.frontier import Frontier
from discreet.decision.frontier.scores import Scores
from discreet.decision.frontier.widths import Widths
from discreet.decision.law.alternatives import Alternative
from discreet.decision.law.assess import Assessment
from discreet.decision.law.decide import Decision
from discreet.decision.law.verdict import Reason
from discreet.decision.survey.publish import Publication
from discreet.decision.users.choose import Choice
from discreet.intruder.bounds.result import CellBounds
from discreet.intruder.posterior.result import Posterior
from discreet.intruder.tables.result import TableCount
from discreet.report.compare import Comparison
from discreet.risk.knowledge.taught import Taught
from discreet.risk.knowledge.withheld import Withheld
from discreet.risk.linkage.identification import Identification
from discreet.risk.linkage.several import Several
from discreet.risk.uniques.uniques import Uniques
from discreet.table.cells import Cells
from discreet.table.described import Described

__all__ = [
    "Alternative", "Assessment", "CellBounds", "Cells", "Choice", "Compared", "Comparison",
    "Decision", "Described", "Frontier", "Identification", "Posterior", "Publication", "Reason",
    "Scores", "Several", "TableCount", "Taught", "Uniques", "Widths", "Withheld",
]  # fmt: skip
