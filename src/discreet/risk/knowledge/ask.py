"""What a release teaches about one person, company or value: one door for all three questions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.predictive.priors import Prior
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
from discreet.table.table import Table, margin_names

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
    prior: Prior | Belief | float | None = None,
) -> Taught:
    """What a table teaches of the category `target` of somebody in it, or published `Rates` of one
    of the companies, or published `Totals` of one of the values (Duncan & Lambert 1986).

    `uncertainty` is a name as on the command line, or a function of `dc.uncertainty`; `measure` is
    knowledge, gain or relative-gain. `prior` is what was believed before: of categories, of the
    rate, of the Pareto distribution's alpha.

    >>> from discreet.table.load import load
    >>> knowledge(load("example:estates"), target="Estate", group="Region", limit=0.25)
    Taught(Estate of somebody whose Region is known: 1 of 4 beyond the limit)
    >>> knowledge(Rates("one of them", 30, 5, 100), limit=2)
    Taught(incidents of one company: 0 of 1 beyond the limit)
    """
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
    found = uncertainty_named(given, categories) if isinstance(given, str) else given
    rule = KnowledgeRule(as_uncertainty(found), limit, Measure(measure))
    way: dict[str, Any] = {} if prior is None else {"prior": prior}
    if isinstance(table, Table):
        by = _names(table, group)
        return taught_by_table(table, str(target), rule, group=by, fraction=fraction, **way)
    if kind is Rates:
        return taught_by_rates(rows, rule, rate=prior)  # type: ignore[arg-type]
    return taught_by_totals(rows, rule, alpha=prior)  # type: ignore[arg-type]


def _names(table: Table, group: str | Iterable[str] | None) -> tuple[str, ...] | None:
    if group is None or not isinstance(group, str):
        return None if group is None else tuple(group)
    one = "*" not in group or group in table.names
    return (table.variable(group).name,) if one else margin_names(group, table.names)
