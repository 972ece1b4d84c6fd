"""`discreet frontier`: what could be released at most."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import data_options, json_option, print_json, read_data, small_option

MOST = 20


@click.command("frontier", epilog="Example: discreet frontier example:czech --beta 3 --json")
@data_options
@click.option(
    "--beta",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="The width that every small count must keep.",
)
@click.option(
    "--method",
    type=click.Choice(["best", "greedy", "decomposable"]),
    default="best",
    show_default=True,
    help="How to search.",
)
@small_option
@click.option("--seed", type=int, default=0, show_default=True, help="Of the annealing.")
@click.option(
    "--limit",
    type=click.FloatRange(0, min_open=True),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="Time for the search, and for tables that prove its widths.",
)
@json_option
def frontier_command(
    beta: int, method: Any, small: int, seed: int, limit: float, as_json: bool, **data: Any
) -> None:
    """The releasable set: as many margins as keep beta at every small count."""
    from discreet.decision.frontier import frontier

    table = read_data(**data)
    found = frontier(table, beta=beta, small=small, method=method, seconds=limit, seed=seed)
    if as_json:
        print_json(found.to_json())
        return
    click.echo(f"{found.released:,} of {2 ** len(table.names) - 1:,} margins, {found.method}")
    for order, count in found.by_order.items():
        click.echo(f"  {order} variable{'s' * (order > 1)}: {count:,}")
    cut = f"; the list was cut after {found.listed:,}" if found.listed is not None else ""
    proven = "proven by tables" if found.certified else f"{found.unproven:,} not proven by tables"
    click.echo(f"narrowest width {found.min_width}{cut}; small counts: {proven}")
    shown = " + ".join("*".join(margin) for margin in found.formula.margins[:MOST])
    more = len(found.formula) - MOST
    click.echo(f"frontier: {shown}{f' and {more:,} more (--json)' if more > 0 else ''}")
