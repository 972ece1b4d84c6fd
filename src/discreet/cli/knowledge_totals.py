"""What `discreet knowledge` reads of totals: an insider's value, and rules on the largest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.options import Command

if TYPE_CHECKING:
    from discreet.risk.knowledge.taught import Rates, Taught, Totals

Rows = Callable[[dict[str, Any], tuple[str, ...]], list[dict[str, Any]]]


def rule_options(command: Command) -> Command:
    """`--rule`, `--largest` and `--alphas`."""
    rule = click.option(
        "--rule",
        "rules",
        multiple=True,
        metavar="RULE",
        help="Totals: dominance:N:K, p:P or pq:P:Q; rates: companies:N:F. Needs --largest.",
    )
    largest = click.option(
        "--largest",
        metavar="X1,X2,...",
        help="The largest values, of rates the largest count: numbers or columns of DATA.",
    )
    alphas = click.option(
        "--alphas",
        metavar="FROM:TO",
        help="Totals: search the alphas for which the limit holds, and does not.",
    )
    return rule(largest(alphas(command)))


def check_rules(options: dict[str, Any], *, of_table: bool) -> None:
    """Rules are on values with a total, or on companies; a table of categories has none."""
    from discreet.errors import DataError

    if of_table and (options["rules"] or options["largest"]):
        raise DataError("--rule and --largest go with --total or --incidents, not with a table.")


def totals_of(
    rows: Sequence[dict[str, Any]], whole: Callable[[float, str], int]
) -> tuple[list[Totals], list[Totals]]:
    """As published, and as an insider sees them: without the value that he knows."""
    from discreet.errors import DataError
    from discreet.risk.knowledge.taught import Totals

    published, seen = [], []
    for row in rows:
        number = whole(row["number"], "--number")
        published.append(Totals(row["label"], row["total"], number, row["minimum"]))
        if "insider" not in row:
            seen.append(published[-1])
            continue
        known = row["insider"]
        if number < 2 or known < row["minimum"]:
            raise DataError(
                f"an insider who knows {known:g} of {number:,} values from {row['minimum']:g} on: "
                "there must be another value, and none is below the minimum."
            )
        seen.append(Totals(row["label"], row["total"] - known, number - 1, row["minimum"]))
    return published, seen


def ruled(
    taught: Taught,
    published: Sequence[Totals] | Sequence[Rates],
    seen: Sequence[Totals] | Sequence[Rates],
    options: dict[str, Any],
    rows: Rows,
) -> Taught:
    """Beside the rules and the search that were asked for, if any."""
    from discreet.errors import DataError
    from discreet.risk.knowledge.dominance import cell_rule
    from discreet.risk.knowledge.ruled import with_rules

    rules = [cell_rule(text) for text in options["rules"]]
    if bool(rules) != bool(options["largest"]):
        raise DataError("--rule and --largest go together: a rule is on the largest values.")
    if not rules and not options["alphas"]:
        return taught
    if options["alphas"]:
        taught = with_rules(taught, seen, [], [], alphas=_span(options["alphas"]))
    if not rules:
        return taught
    parts = [part.strip() for part in options["largest"].split(",")]
    places = [f"largest {i + 1}" for i in range(len(parts))]
    read = rows(options | dict(zip(places, parts, strict=True)), tuple(places))
    largest = [[row[place] for place in places] for row in read]
    if len(largest) == 1:
        largest = largest * len(published)
    return with_rules(taught, published, largest, rules)


def _span(text: str) -> tuple[float, float]:
    from discreet.errors import DataError

    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        raise DataError(f"--alphas is {text!r}; write FROM:TO, as 0.2:10.") from None
