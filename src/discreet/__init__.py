"""discreet: decide what can be published from confidential data."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.data.codebook import Codebook as Codebook
    from discreet.data.codebook import Role as Role
    from discreet.data.codebook import Variable as Variable
    from discreet.data.hierarchy import Hierarchy as Hierarchy
    from discreet.decision.answering.desk import Desk as Desk
    from discreet.decision.frontier.frontier import Frontier as Frontier
    from discreet.decision.frontier.frontier import frontier as frontier
    from discreet.decision.frontier.scores import Scores as Scores
    from discreet.decision.frontier.tradeoff import Tradeoff as Tradeoff
    from discreet.decision.frontier.tradeoff import tradeoff as tradeoff
    from discreet.decision.frontier.widths import Widths as Widths
    from discreet.decision.frontier.widths import critical_widths as critical_widths
    from discreet.decision.law.alternatives import alternatives as alternatives
    from discreet.decision.law.assess import Assessment as Assessment
    from discreet.decision.law.assess import assess as assess
    from discreet.decision.law.decide import Decision as Decision
    from discreet.decision.law.decide import decide as decide
    from discreet.decision.law.policy import Policy as Policy
    from discreet.decision.law.verdict import Verdict as Verdict
    from discreet.decision.survey.publish import Publication as Publication
    from discreet.decision.survey.publish import publish as publish
    from discreet.decision.users.choose import Choice as Choice
    from discreet.decision.users.choose import choose as choose
    from discreet.errors import DisclosureError as DisclosureError
    from discreet.intruder.belief.belief import Belief as Belief
    from discreet.intruder.bounds.bounder import bounds as bounds
    from discreet.intruder.bounds.part import Proof as Proof
    from discreet.intruder.bounds.result import CellBounds as CellBounds
    from discreet.intruder.bounds.shuttle.shuttle import Shuttle as Shuttle
    from discreet.intruder.linkage.links import Links as Links
    from discreet.intruder.linkage.model import Intruder as Intruder
    from discreet.intruder.linkage.records import Records as Records
    from discreet.intruder.linkage.records import read_records as read_records
    from discreet.intruder.posterior.posterior import posterior as posterior
    from discreet.intruder.posterior.result import Posterior as Posterior
    from discreet.intruder.tables.count import count as count
    from discreet.models.select import ModelSearch as ModelSearch
    from discreet.models.select import fitting_model as fitting_model
    from discreet.release.release import Release as Release
    from discreet.report.html import write_html as write_html
    from discreet.risk.linkage.calibration import calibration as calibration
    from discreet.risk.linkage.harm import Costs as Costs
    from discreet.risk.linkage.harm import harm as harm
    from discreet.risk.linkage.harmless import harmless as harmless
    from discreet.risk.linkage.identification import Identification as Identification
    from discreet.risk.linkage.identification import identify as identify
    from discreet.risk.linkage.matching import matching as matching
    from discreet.risk.uniques.uniques import uniqueness as uniqueness
    from discreet.table.formula import Formula as Formula
    from discreet.table.load import load as load
    from discreet.table.microdata import Microdata as Microdata
    from discreet.table.table import Table as Table
    from discreet.utility.requests import Requests as Requests

_HOMES = {
    "Assessment": "decision.law.assess",
    "Belief": "intruder.belief.belief",
    "CellBounds": "intruder.bounds.result",
    "Choice": "decision.users.choose",
    "Codebook": "data.codebook",
    "Costs": "risk.linkage.harm",
    "Decision": "decision.law.decide",
    "Desk": "decision.answering.desk",
    "DisclosureError": "errors",
    "Formula": "table.formula",
    "Frontier": "decision.frontier.frontier",
    "Hierarchy": "data.hierarchy",
    "Identification": "risk.linkage.identification",
    "Intruder": "intruder.linkage.model",
    "Links": "intruder.linkage.links",
    "Microdata": "table.microdata",
    "ModelSearch": "models.select",
    "Policy": "decision.law.policy",
    "Posterior": "intruder.posterior.result",
    "Proof": "intruder.bounds.part",
    "Publication": "decision.survey.publish",
    "Records": "intruder.linkage.records",
    "Release": "release.release",
    "Requests": "utility.requests",
    "Role": "data.codebook",
    "Scores": "decision.frontier.scores",
    "Shuttle": "intruder.bounds.shuttle.shuttle",
    "Table": "table.table",
    "Tradeoff": "decision.frontier.tradeoff",
    "Variable": "data.codebook",
    "Verdict": "decision.law.verdict",
    "Widths": "decision.frontier.widths",
    "alternatives": "decision.law.alternatives",
    "assess": "decision.law.assess",
    "bounds": "intruder.bounds.bounder",
    "calibration": "risk.linkage.calibration",
    "choose": "decision.users.choose",
    "count": "intruder.tables.count",
    "critical_widths": "decision.frontier.widths",
    "decide": "decision.law.decide",
    "fitting_model": "models.select",
    "frontier": "decision.frontier.frontier",
    "harm": "risk.linkage.harm",
    "harmless": "risk.linkage.harmless",
    "identify": "risk.linkage.identification",
    "load": "table.load",
    "matching": "risk.linkage.matching",
    "posterior": "intruder.posterior.posterior",
    "publish": "decision.survey.publish",
    "read_records": "intruder.linkage.records",
    "tradeoff": "decision.frontier.tradeoff",
    "uniqueness": "risk.uniques.uniques",
    "write_html": "report.html",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"discreet has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"discreet.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
