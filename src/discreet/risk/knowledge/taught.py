"""What a table, incidence rates or totals would teach, judged by a rule."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.values import Values
from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.belief.valued import Within
from discreet.intruder.predictive.categories import census, check_fraction, sampled
from discreet.intruder.predictive.elicit import ElicitedPrior
from discreet.intruder.predictive.families import Pareto
from discreet.intruder.predictive.incidence import incidents, incidents_before, least_rate
from discreet.intruder.predictive.priors import Counts, Prior
from discreet.intruder.predictive.quantiles import FittedPrior
from discreet.intruder.predictive.totals import (
    pareto_alpha,
    pareto_prior,
    value_given_total,
    value_under_prior,
)
from discreet.look.result import Paged, Unpublished
from discreet.look.words import both, named
from discreet.risk.knowledge.intruders import census_standard, most_inside, outsiders
from discreet.risk.knowledge.knowledge import KnowledgeRule, Learned, Measure
from discreet.risk.uncertainty import OnValues, Variance, inverse_moments, on_values, variation
from discreet.table.cells import frame
from discreet.table.table import Table


@dataclass(frozen=True, eq=False)
class Taught(Paged):
    """Every target judged; the one that is nearest to the limit, or furthest beyond it, first.

    >>> import discreet as dc
    >>> estates = dc.load("example:estates")
    >>> found = dc.knowledge(estates, target="Estate", group="Region", limit=0.25)
    >>> found.within, found.words
    (False, 'Release if no category has more than 75%.')
    >>> found.rows[0]
    Learned(North Central: uncertainty 0.2, beyond the limit)
    """

    about: str
    rule: KnowledgeRule
    rows: tuple[Learned, ...]
    words: str
    notes: tuple[str, ...] = ()
    elicited: ElicitedPrior | FittedPrior | None = None  # the prior, with what it implies

    @property
    def within(self) -> bool:
        return all(row.within for row in self.rows)

    def __repr__(self) -> str:
        beyond = sum(not row.within for row in self.rows)
        return f"Taught({self.about}: {beyond:,} of {len(self.rows):,} beyond the limit)"

    def plot(self, **options: Any) -> Any:
        """Prior against posterior of the first target."""
        return self.rows[0].plot(**options)

    def to_frame(self, kind: str = "pandas") -> Any:
        columns: dict[str, list[Any]] = {
            "target": [row.label for row in self.rows],
            "before": [row.before for row in self.rows],
            "knowledge": [row.after for row in self.rows],
            "gain": [row.gain for row in self.rows],
            "relative_gain": [row.relative for row in self.rows],
            "within": [row.within for row in self.rows],
        }
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": "PASS" if self.within else "FAIL",
            "about": self.about,
            "uncertainty": str(self.rule.uncertainty),
            "measure": str(self.rule.measure),
            "limit": self.rule.limit,
            "rule": self.words,
            "targets": [row.to_json() for row in self.rows],
            "notes": list(self.notes),
            "elicited": None if self.elicited is None else self.elicited.to_json(),
        }


def about_somebody(target: str, groups: Sequence[str]) -> str:
    """What is learned of whom."""
    if not groups:
        return f"{target} of somebody"
    return f"{target} of somebody whose {both(groups)} {'is' if len(groups) == 1 else 'are'} known"


def group_label(groups: Sequence[str], categories: Sequence[str]) -> str:
    """What is known of somebody; more than one category with its variable."""
    if len(groups) == 1:
        return categories[0]
    return named(dict(zip(groups, categories, strict=True))) or "all"


def taught_by_table(
    table: Table,
    target: str,
    rule: KnowledgeRule,
    *,
    group: str | Sequence[str] | None = None,
    fraction: float = 1.0,
    prior: Prior | None = None,
    believed: Any = None,
    values: Mapping[str, Any] | Values | str | Path | None = None,
    within: str | Within = "midpoint",
    top: float | None = None,
) -> Taught:
    """A person's category of `target`, from the table of it, or of it by `group`.

    `believed` are expected counts in its place, if that table is not released. An uncertainty
    about numbers takes those of the categories: see `on_values`.

    The person is in the table, or with a sampling `fraction` perhaps; without a prior, what is
    believed before is the whole table, if a group is learned.

    >>> from discreet.table.load import load
    >>> from discreet.risk.uncertainty import Largest
    >>> rule = KnowledgeRule(Largest(), 0.25)
    >>> taught_by_table(load("example:estates"), "Estate", rule, group="Region")
    Taught(Estate of somebody whose Region is known: 1 of 4 beyond the limit)
    """
    check_fraction(fraction)
    groups = [group] if isinstance(group, str) else list(group or ())
    if target in groups:
        raise DataError(f"{target!r} is both the target and the group; group by another variable.")
    sums = table.margin([*groups, target]).reorder([*groups, target])
    categories = sums.variable(target).categories
    asked = on_values(rule.uncertainty, sums.variable(target), values, within=within, top=top)
    rule = replace(rule, uncertainty=asked)
    counts = sums.dense().reshape(-1, len(categories))
    labels = list(product(*(sums.variable(name).categories for name in groups)))
    if prior is not None and (odd := set(prior.categories) - set(categories)):
        raise DataError(f"the prior has {min(odd)!r}, which is no category of {target!r}.")
    whole = dict(zip(categories, counts.sum(0).tolist(), strict=True))
    if prior is not None:
        before: Belief | None = prior.predictive()
    else:
        before = census(whole) if groups else None
    rows, told = [], {}
    lines = counts if believed is None else np.reshape(believed, counts.shape)
    for label, people, line in zip(labels, counts.sum(1).tolist(), lines.tolist(), strict=True):
        if not people:
            continue
        shown = dict(zip(categories, line, strict=True))
        outside = None if prior is None or believed is not None else prior.given(shown)
        name = group_label(groups, label)
        told[name] = shown
        if believed is None:
            belief = sampled(shown, fraction, outside)
        else:
            belief = Belief.discrete(list(categories), np.array(line) / sum(line))
        rows.append(rule.judge(belief, before, label=name, people=people))
    ordered = _ordered(rule, rows)
    worst = ordered[0]
    about = about_somebody(target, groups)
    notes = _sample_notes(rule, told[worst.label], fraction, prior) if fraction < 1 else ()
    if isinstance(asked, OnValues):
        about, notes = f"{about}, each category {asked.taken}", (*asked.notes, *notes)
    if fraction < 1:
        about += f", in a sample of {fraction:.4g}"
    return Taught(about, rule, ordered, rule.words(categories, worst.before), notes)


@dataclass(frozen=True)
class Rates(Unpublished):
    """Companies that are alike: how many, their incidents together, the exposure of one.

    >>> import discreet as dc
    >>> mines = dc.uncertainty.Rates("mines", 30, 5, exposure=100)
    >>> dc.knowledge(mines, limit=2).rows[0]
    Learned(mines: uncertainty 4.8, within the limit)
    """

    label: str
    incidents: int
    companies: int
    exposure: float | None = None
    insider: tuple[int, ...] = ()


def taught_by_rates(
    classes: Sequence[Rates], rule: KnowledgeRule, *, rate: Belief | None = None
) -> Taught:
    """A company's number of incidents; `rate` is what is believed of the rate before.

    >>> rule = KnowledgeRule(Variance(), 2.0)
    >>> taught_by_rates([Rates("small", 12, 4, 100)], rule)
    Taught(incidents of one company: 0 of 1 beyond the limit)
    """
    rows, notes = [], []
    for each in classes:
        before = None
        if rate is not None:
            if each.exposure is None:
                raise DataError("a prior of the rate needs the exposure of a company; give it.")
            before = incidents_before(each.exposure, rate)
        belief = incidents(each.incidents, each.companies, insider=each.insider)
        figures = {"incidents": each.incidents, "companies": each.companies}
        rows.append(rule.judge(belief, before, label=each.label, **figures))
    ordered = _ordered(rule, rows)
    words = rule.words((), ordered[0].before)
    if isinstance(rule.uncertainty, Variance) and rule.measure is Measure.KNOWLEDGE:
        words = f"Release if incidents x (1 - 1/N) / N is at least {rule.limit:g}, N companies."
        notes = [note for each in classes for note in _rate_notes(each, rule.limit)]
        if any(each.insider for each in classes):
            words += " Of incidents and companies, those that the insider knows are left out."
    return Taught("incidents of one company", rule, ordered, words, tuple(notes))


@dataclass(frozen=True)
class Totals(Unpublished):
    """How many values there are above a minimum, and their total.

    >>> import discreet as dc
    >>> estates = dc.uncertainty.Totals("estates", 507.862, 11, minimum=10)
    >>> dc.knowledge(estates, limit=0.25, prior=1.2765).rows[0]
    Learned(estates: uncertainty 0.2574, within the limit)
    """

    label: str
    total: float
    number: int
    minimum: float


def taught_by_totals(
    classes: Sequence[Totals], rule: KnowledgeRule, *, alpha: float | Belief | None = None
) -> Taught:
    """One of the values, Pareto; `alpha` is known, has a prior, or is estimated from the total.

    >>> from discreet.risk.uncertainty import RelativeError
    >>> rule = KnowledgeRule(RelativeError(), 0.25)
    >>> taught_by_totals([Totals("estates", 507.862, 11, 10)], rule, alpha=1.2765)
    Taught(one of the values: 0 of 1 beyond the limit)
    """
    rows, notes = [], []
    for each in classes:
        figures: dict[str, float] = {"number": each.number, "total": each.total}
        if isinstance(alpha, Belief):
            families, weights = pareto_prior(alpha, each.minimum)
            found = value_under_prior(each.total, each.number, families, weights)
            prior = Belief.mixture([family.belief() for family in families], weights)
            finite = all(family.spread for family in families)
        else:
            shape = alpha
            if shape is None:
                shape = pareto_alpha(each.total, each.number, each.minimum)
            family = Pareto(shape, each.minimum)
            found = value_given_total(each.total, each.number, family)
            prior, finite = family.belief(), family.spread
            figures["alpha"] = shape
            how = "given" if alpha is not None else "estimated from the total"
            notes.append(f"{each.label}: values are Pareto({shape:.4f}), {how}.")
        figures["mean_inverse"] = inverse_moments(found.belief)[0]
        figures["cv_inverse"] = variation(found.belief)
        before = math.inf if isinstance(rule.uncertainty, Variance) and not finite else None
        rows.append(rule.judge(found.belief, prior, label=each.label, before=before, **figures))
    ordered = _ordered(rule, rows)
    return Taught(
        "one of the values", rule, ordered, rule.words((), ordered[0].before), tuple(notes)
    )


def _ordered(rule: KnowledgeRule, rows: Sequence[Learned]) -> tuple[Learned, ...]:
    if not rows:
        raise DataError("there is no target: the table is empty.")
    return tuple(sorted(rows, key=lambda row: row.after - rule.least(row.before)))


def _sample_notes(
    rule: KnowledgeRule, counts: Counts, fraction: float, prior: Prior | None
) -> tuple[str, ...]:
    notes = []
    if prior is None:
        notes.append(
            "Of those outside the sample nothing is known but the sample: the census standard."
        )
    else:
        said = str(census_standard(rule, counts, fraction, prior))
        notes.append(f"{said[0].upper()}{said[1:]}.")
    if rule.measure is Measure.KNOWLEDGE:
        notes.append(f"The limit holds against {outsiders(rule, counts, fraction)}.")
    return tuple(notes)


def _rate_notes(each: Rates, limit: float) -> list[str]:
    notes = []
    if each.exposure and each.companies > 1:
        rate = least_rate(limit, each.exposure, each.companies)
        notes.append(
            f"{each.label}: {each.companies:,} companies or more with a rate of {rate:.4g} or more "
            "are within the limit."
        )
    if not each.insider:
        most = most_inside(limit, each.incidents, each.companies)
        notes.append(
            f"{each.label}: not against an insider of another company."
            if most is None
            else f"{each.label}: also against an insider who knows up to {most:,} of another "
            "company."
        )
    return notes
