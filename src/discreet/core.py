"""The names that most users need."""

from discreet.data.codebook import Codebook
from discreet.data.examples import examples
from discreet.decision.compare.compare import compare
from discreet.decision.frontier.frontier import frontier
from discreet.decision.frontier.widths import widths
from discreet.decision.law.alternatives import alternatives
from discreet.decision.law.assess import assess
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.decision.survey.publish import publish
from discreet.errors import DisclosureError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.bounds.bounder import bounds
from discreet.intruder.posterior.posterior import posterior
from discreet.intruder.tables.count import count
from discreet.release.release import Release
from discreet.report.compare import diff
from discreet.report.html import write_html
from discreet.risk.knowledge.ask import knowledge
from discreet.risk.linkage.identification import identify
from discreet.risk.uniques.uniques import uniques
from discreet.spreading import workers
from discreet.table.described import describe
from discreet.table.formula import Formula
from discreet.table.load import load
from discreet.table.microdata import Microdata
from discreet.table.table import Table

__all__ = [
    "Belief", "Codebook", "DisclosureError", "Formula", "Microdata", "Policy", "Release", "Table",
    "Verdict", "alternatives", "assess", "bounds", "compare", "count", "decide", "describe", "diff",
    "examples", "frontier", "identify", "knowledge", "load", "posterior", "publish", "uniques",
    "widths", "workers", "write_html",
]  # fmt: skip
