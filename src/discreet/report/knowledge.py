"""The page of what a release teaches about one person, company or value."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.decision.law.verdict import Verdict
from discreet.intruder.belief.belief import Kind
from discreet.intruder.predictive.elicit import PEOPLE, ElicitedPrior
from discreet.look.words import EN_DASH, number, percent, plural
from discreet.report.page import MOST_LONG, Chart, Page, Points, Rows, Say, Section, data_file
from discreet.risk.uncertainty import OnValues

if TYPE_CHECKING:
    from discreet.intruder.belief.belief import Belief
    from discreet.intruder.predictive.quantiles import FittedPrior
    from discreet.risk.knowledge.knowledge import Learned
    from discreet.risk.knowledge.taught import Taught

MEASURES = {"knowledge": "is at least", "gain": "falls by at most"}


def knowledge_page(taught: Taught, *, data: str | Path | None = None) -> Page:
    """The verdict, what the rule asks of the table, and each target, the worst first."""
    beyond, every = sum(not row.within for row in taught.rows), len(taught.rows)
    said = f"{number(beyond)} of {plural(every, 'target')} beyond the limit"
    if taught.within:
        said = "within the limit" if every == 1 else f"all {number(every)} targets within the limit"
    measure = MEASURES.get(taught.rule.measure, "falls by a share of at most")
    limit = f"limit: uncertainty, {taught.rule.uncertainty}, {measure} {taught.rule.limit:g}"
    sections = [_believed(taught)]
    if taught.elicited is not None:
        sections.append(_before(taught.elicited))
    if taught.notes:
        sections.append(Section("Notes", [Points(taught.notes)]))
    return Page(
        "What a release teaches",
        f"{taught.about}: {said}" if beyond or taught.within else taught.about,
        sections,
        verdict=_verdict(taught.within),
        said=[Say(_worst(taught)), Say(limit, "quiet"), Say(taught.words)],
        files=data_file(data),
    )


def _worst(taught: Taught) -> str:
    """The first target in a sentence: what would be known of whom."""
    row = taught.rows[0]
    who = "" if row.label in ("all", "one of them") else f" of {row.label}"
    if row.posterior.kind is Kind.DENSITY:
        low, middle, high = _quantiles(row.posterior)
        return (
            f"most is known{who}: the value is between {low:.4g} and {high:.4g} with probability "
            f"90%, as likely above as below {middle:.4g}"
        )
    best = row.posterior.mode
    chance = percent(row.posterior.probability(best), 1)
    guess = f"'{best}'" if isinstance(best, str) else _shown(best)
    return f"most is known{who}: {guess} with probability {chance}"


def _quantiles(belief: Belief) -> tuple[float, float, float]:
    return belief.quantile(0.05), belief.quantile(0.5), belief.quantile(0.95)


def _believed(taught: Taught) -> Section:
    rows = taught.rows[:MOST_LONG]
    gains = any(row.before is not None for row in rows)
    labelled = all(row.posterior.kind is not Kind.DENSITY for row in rows)
    heads = ["best guess", "probability"] if labelled else ["median", "90% between"]
    asked = taught.rule.uncertainty
    guess = _guess
    if isinstance(asked, OnValues):
        heads, guess = ["best estimate", "most probable"], partial(_estimate, asked)
    table = Rows(
        "Targets, those beyond the limit or nearest to it first",
        ["target"],
        [[row.label] for row in rows],
        [*heads, "uncertainty", *(["before", "gain"] if gains else [])],
        [guess(row.posterior) + _figures(row, gains) for row in rows],
        len(taught.rows),
        [_verdict(row.within) for row in rows],
        kind="more target",
    )
    chart = Chart("taught", taught.plot, "What is believed of the first target, before and after.")
    return Section("What is believed", [chart, table])


def _before(elicited: ElicitedPrior | FittedPrior) -> Section:
    """What the prior implies: of each share, or of the quantiles that were stated."""
    if isinstance(elicited, ElicitedPrior):
        names, foreseen = elicited.prior.categories, elicited.foresees()
        table = Rows(
            "What the prior says, each with probability 90%",
            ["category"],
            [[name] for name in names],
            ["weight", "share", "between", f"of {PEOPLE} people"],
            [
                [
                    f"{weight:.4g}",
                    f"{share:.4f}",
                    EN_DASH.join(f"{end:.4f}" for end in elicited.interval(name)),
                    EN_DASH.join(map(str, foreseen[name])),
                ]
                for name, weight, share in zip(
                    names, elicited.prior.weights, elicited.prior.shares, strict=True
                )
            ],
            len(names),
            kind="more category",
        )
        text = "The interval of each share before the release."
    else:
        table = Rows(
            "The stated quantiles and those of the prior",
            ["probability"],
            [[f"{p:g}"] for p in elicited.probabilities],
            ["stated", "fitted"],
            [
                [f"{stated:.4g}", f"{fitted:.4g}"]
                for stated, fitted in zip(elicited.stated, elicited.fitted, strict=True)
            ],
        )
        text = "The density that was fitted, and the stated quantiles."
    return Section("What was believed before", [Chart("prior", elicited.plot, text), table])


def _verdict(within: bool) -> Verdict:
    return Verdict.PASS if within else Verdict.FAIL


def _guess(belief: Belief) -> list[str]:
    if belief.kind is not Kind.DENSITY:
        best = belief.mode
        return [_shown(best), f"{belief.probability(best):.4f}"]
    low, middle, high = _quantiles(belief)
    return [f"{middle:.4g}", f"{low:.4g}{EN_DASH}{high:.4g}"]


def _estimate(asked: OnValues, belief: Belief) -> list[str]:
    """Of the number, and the category that is most probable."""
    found = asked.best(belief).estimate
    if isinstance(found, tuple):
        return [EN_DASH.join(f"{end:.4g}" for end in found), _shown(belief.mode)]
    return [f"{found:.4g}" if isinstance(found, float) else str(found), _shown(belief.mode)]


def _figures(row: Learned, gains: bool) -> list[str]:
    found = [f"{row.after:.4f}"]
    if not gains:
        return found
    return [*found, *("" if x is None else f"{x:.4f}" for x in (row.before, row.gain))]


def _shown(value: Any) -> str:
    return number(value) if isinstance(value, int | float) else str(value)
