"""What could be released at most: searches, scores, bounds that follow a growing release.

Dobra, Erosheva & Fienberg 2002.
"""

from discreet.decision.frontier.decomposable import decomposable_frontier
from discreet.decision.frontier.decomposable_result import DecomposableFrontier
from discreet.decision.frontier.frontier import Frontier, frontier
from discreet.decision.frontier.scores import Scores
from discreet.decision.frontier.tradeoff import Tradeoff, tradeoff
from discreet.decision.frontier.widths import Widths, widths
from discreet.intruder.bounds.part import Proof
from discreet.intruder.bounds.shuttle.shuttle import Shuttle
from discreet.table.stored_table import StoredTable

__all__ = [
    "DecomposableFrontier", "Frontier", "Proof", "Scores", "Shuttle", "StoredTable",
    "Tradeoff", "Widths", "decomposable_frontier", "frontier", "tradeoff", "widths",
]  # fmt: skip
