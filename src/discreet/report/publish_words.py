"""The sentences of a publication: what is published, what it holds, costs, and rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.look.words import number, percent, plural

if TYPE_CHECKING:
    from discreet.decision.survey.curve import CutRule
    from discreet.decision.survey.publish import Publication

COLUMNS = (
    "Of the N people of a domain n are sampled, and y of these are in the class; E Y of the N are "
    "expected to be. R0 and R1: the expected loss of suppressing the cell and of publishing it; "
    "the smallest R1/R0 is published first."
)
RECORDS = "records"
SUPPRESSING = {
    RECORDS: "each sampled person in the class counts 1",
    "cells": "each cell counts 1",
    "population": "each person in the class counts 1, sampled or not (Y)",
    "domain-sample": "each sampled person of the domain counts 1 (n)",
    "domain": "each person of the domain counts 1 (N)",
}
PUBLISHING = {
    "uniques": "sampled people in the class who are alone in one of {0} equally large subclasses",
    "gamma-uniques": "sampled people in the class who are alone in one of {0} subclasses of "
    "unequal size (gamma, shape {1})",
    "subclasses": "sampled people in the class who are alone in a subclass; the sizes are those of "
    "{0}",
    "known-sample": "the chance to be alone in one of {0} subclasses, if it is known who was "
    "sampled",
    "threshold": "1 if fewer than {0} people of the domain are in the class",
}
PAPER = "of Zaslavsky & Horton 1998"
SOURCES = {"uniques": f", equation 2 {PAPER}", "subclasses": f", equation 1 {PAPER}"}


def holding(found: Publication, data: float) -> str:
    """What the published cells hold: of the sample, and of the loss where that is another."""
    share, sampled = _sampled(found)
    if not sampled:
        return "none of the sampled people, who are all outside the class"
    if found.losses[1].name == RECORDS:
        return f"{percent(data)} of the sampled people in the class"
    return (
        f"{percent(share)} of the sampled people in the class, {percent(data)} of what is lost if "
        f"nothing is published ({found.losses[1].name})"
    )


def holding_figure(found: Publication, data: float) -> tuple[str, str]:
    if found.losses[1].name == RECORDS:
        return percent(data), "of the sampled people in the class are in published cells"
    return percent(data), "of what is lost if nothing is published is kept"


def _sampled(found: Publication) -> tuple[float, float]:
    """The share of the sampled people in the class whose cells are published, and how many."""
    people = found.counts.y * found.weight
    total = float(people.sum())
    return (float(people @ found.probability) / total if total else 0.0), total


def rule_words(rule: CutRule) -> str:
    """Which cells are published."""
    if rule.floor is not None or rule.share is not None or rule.risk is not None:
        return str(rule)
    plugged = f", both at the {rule.estimator} estimate of Y" if rule.estimator else ""
    ratio = rule.ratio or 0
    times = "" if ratio == 1 else f"{number(ratio)} times "
    return (
        f"published where the expected loss of publishing is below {times}that of suppressing"
        f"{plugged}"
    )


def loss_words(found: Publication) -> list[str]:
    """What publishing and suppressing a cell is taken to cost."""
    disclosure, nonpublication = (loss.name for loss in found.losses)
    kind, _, rest = disclosure.partition(":")
    numbers = rest.split(":") if kind != "subclasses" else [rest]
    costs = PUBLISHING[kind].format(*numbers) if kind in PUBLISHING else "a loss of the user's own"
    hidden = SUPPRESSING.get(nonpublication, "a loss of the user's own")
    return [
        f"publishing costs: {costs} (loss {disclosure}{SOURCES.get(kind, '')})",
        f"suppressing costs: {hidden} (loss {nonpublication})",
    ]


def prior_words(found: Publication) -> str:
    """What is believed of a domain's share in the class before its sample."""
    prior = found.prior
    share = prior.alpha / (prior.alpha + prior.beta)
    said = (
        f"before its sample, a domain's share in the class is believed to be around "
        f"{percent(share, 1)} (beta distribution with alpha {prior.alpha:.4g} and beta "
        f"{prior.beta:.4g}"
    )
    if prior.covariance is None:
        return f"{said}, given)"
    ends = prior.intervals()
    spans = ", ".join(f"{k} {ends[k][0]:.4g} to {ends[k][1]:.4g}" for k in ("alpha", "beta"))
    limit = "; domains do not differ more than by chance" if prior.at_limit else ""
    to = f"fitted to {plural(prior.domains, 'domain')}"
    return f"{said}, {to}; 95% intervals by observed information: {spans}){limit}"
