"""What a release teaches about one person, company or value: one door for all three questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from discreet.data.values import Values
from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.predictive.elicit import ElicitedPrior
from discreet.intruder.predictive.priors import Prior
from discreet.intruder.predictive.quantiles import FittedPrior
from discreet.risk.knowledge.knowledge import KnowledgeRule, Measure
from discreet.risk.knowledge.taught import (
    Rates,
    Taught,
    Totals,
    taught_by_rates,
    taught_by_table,
    taught_by_totals,
)
from discreet.risk.uncertainty import Uncertainty
from discreet.risk.uncertainty.named import as_uncertainty, uncertainty_named
from discreet.table.formula import margin_names
from discreet.table.table import Table

USUAL = {Table: "largest", Rates: "variance", Totals: "relative"}


def knowledge(
    data: Table | Rates | Totals | Iterable[Rates] | Iterable[Totals],
    *,
    limit: float,
    target: str | None = None,
    group: str | Iterable[str] | None = None,
    uncertainty: str | Uncertainty | None = None,
    measure: str = "knowledge",
    fraction: float = 1.0,
    prior: Prior | Belief | ElicitedPrior | FittedPrior | float | None = None,
    values: Mapping[str, Any] | Values | str | Path | None = None,
    within: str = "midpoint",
    top: float | None = None,
) -> Taught:
    """What a table teaches of the category `target` of somebody in it, or published `Rates` of one
    of the companies, or published `Totals` of one of the values (Duncan & Lambert 1986).

    `uncertainty` is a name as on the command line, or a function of `dc.uncertainty`; `measure` is
    knowledge, gain or relative-gain. `prior` is what was believed before: of categories, of the
    rate, of the Pareto distribution's alpha; or what `elicit_shares`, `elicit_table` or
    `elicit_quantiles` of `dc.uncertainty` made of what somebody says.

    Of an uncertainty about numbers (variance, relative, absolute, over-under, lengths, or a loss
    written on values) the categories are numbers, or ranges: `values` says which, else the
    codebook, else the labels; `top` is the end of an open range. Within a range a value is at its
    midpoint, uniform, pareto:ALPHA, or uniform with a Pareto tail, uniform+pareto:ALPHA.

    >>> from discreet.table.load import load
    >>> knowledge(load("example:estates"), target="Estate", group="Region", limit=0.25)
    Taught(Estate of somebody whose Region is known: 1 of 4 beyond the limit)
    >>> knowledge(load("example:estates"), target="Estate", uncertainty="variance", limit=50,
    ...           within="uniform", top=100).rows[0]
    Learned(all: uncertainty 345.3, within the limit)
    >>> knowledge(Rates("one of them", 30, 5, 100), limit=2)
    Taught(incidents of one company: 0 of 1 beyond the limit)
    """
    elicited = prior if isinstance(prior, ElicitedPrior | FittedPrior) else None
    rows = [data] if isinstance(data, (Table, Rates, Totals)) else list(data)
    kind = next((k for k in USUAL if rows and all(isinstance(row, k) for row in rows)), None)
    if kind is None:
        raise DataError("knowledge asks about a table, or about Rates, or about Totals.")
    if kind is not Table and (target or group or fraction != 1):
        raise DataError("target, group and fraction go with a table, not with rates or totals.")
    table = rows[0]
    if isinstance(table, Table) and target is None:
        raise DataError("name the target: the variable that an intruder wants to know.")
    categories = table.variable(str(target)).categories if isinstance(table, Table) else ()
    given = USUAL[kind] if uncertainty is None else uncertainty
    named = uncertainty_named(given, categories) if isinstance(given, str) else given
    rule = KnowledgeRule(as_uncertainty(named), limit, cast(Measure, measure))
    before: Any = prior if elicited is None else _told(elicited, isinstance(table, Table))
    if not isinstance(table, Table) and (values is not None or top is not None):
        raise DataError("values and top go with a table, not with rates or totals.")
    if isinstance(table, Table):
        way: dict[str, Any] = {"values": values, "within": within, "top": top}
        way |= {"group": _names(table, group), "fraction": fraction, "prior": before}
        found = taught_by_table(table, str(target), rule, **way)
    elif kind is Rates:
        found = taught_by_rates(rows, rule, rate=before)  # type: ignore[arg-type]
    else:
        found = taught_by_totals(rows, rule, alpha=before)  # type: ignore[arg-type]
    if elicited is None:
        return found
    return replace(found, elicited=elicited, notes=(*found.notes, *_implied(elicited)))


def _told(elicited: ElicitedPrior | FittedPrior, of_table: bool) -> Prior | Belief:
    if isinstance(elicited, ElicitedPrior) != of_table:
        raise DataError(
            "a prior of shares goes with a table, one that is fitted to quantiles with rates or "
            "totals; the latter's dirichlet(category, other) is one of two shares."
        )
    return elicited.prior if isinstance(elicited, ElicitedPrior) else elicited.belief()


def _implied(elicited: ElicitedPrior | FittedPrior) -> tuple[str, ...]:
    if isinstance(elicited, ElicitedPrior):
        return (f"Prior: {elicited.how}", *elicited.notes)
    return (f"Prior: {elicited}.",)


def _names(table: Table, group: str | Iterable[str] | None) -> tuple[str, ...] | None:
    if group is None or not isinstance(group, str):
        return None if group is None else tuple(group)
    one = "*" not in group or group in table.names
    return (table.variable(group).name,) if one else margin_names(group, table.names)
