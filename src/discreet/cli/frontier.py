"""`discreet frontier`: what could be released at most."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.interrupts import stop_insisting
from discreet.cli.options import (
    READING,
    SECONDS,
    data_file,
    data_options,
    json_option,
    print_json,
    read_data,
    read_policy,
)


@click.command("frontier", epilog="Example: discreet frontier example:czech --beta 3 --json")
@data_options
@click.option(
    "--beta",
    type=click.IntRange(1),
    help="The width that every small count must keep; without a policy this rule alone is asked.",
)
@click.option(
    "--method",
    type=click.Choice(["best", "greedy", "decomposable"]),
    default="best",
    show_default=True,
    help="How to search.",
)
@click.option(
    "--small",
    type=click.IntRange(1),
    help="Counts from 1 to this are small; 2, or what the policy says.",
)
@click.option("--policy", metavar="FILE", help="TOML with the thresholds (discreet policy).")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change a policy key.")
@click.option(
    "--proof",
    type=click.Choice(["integer", "linear", "outer"]),
    help="What a width must be reached by: tables of whole numbers, of fractions, or nothing.",
)
@click.option("--certified", is_flag=True, help="Only what tables prove, no outer bounds.")
@click.option("--first", metavar="F", help="Margins that must be in; fit: those of a good model.")
@click.option("--released", metavar="F", help="Margins that are out already; they stay in.")
@click.option("--never", metavar="F", help="Margins that may not go, nor any that contains them.")
@click.option(
    "--max-order", type=click.IntRange(1), metavar="D", help="No more variables a margin."
)
@click.option("--requests", metavar="FILE", help="Who asks for which margins: CSV, JSON, TOML.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the searches.")
@click.option(
    "--limit",
    type=SECONDS,
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="Time for the search, and for tables that prove its widths.",
)
@click.option("--html", metavar="OUT", help="Write the report, one self-contained file.")
@json_option
def frontier_command(
    policy: str | None,
    changes: tuple[str, ...],
    requests: str | None,
    limit: float,
    html: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """The releasable set: the most margins that keep the policy, as assess judges it.

    With --beta and no policy, widths alone are kept, and the first line says so; --set may then
    change keys of bounds.

    Ctrl-C ends the search and reports the best set until then.
    """
    from discreet.data.files import check_writable
    from discreet.decision.frontier.frontier import frontier, widths_alone
    from discreet.utility.requests import Requests

    data = {key: options.pop(key) for key in READING}
    office = read_policy(policy, changes) if policy or changes else None
    if options["beta"] and changes and not policy and all(c.startswith("bounds.") for c in changes):
        office = widths_alone().set(changes)
    if html:
        check_writable(html)
    table = read_data(**data)
    wishes: Any = {key: options.pop(key) or () for key in ("first", "released", "never")}
    found = frontier(
        table,
        policy=office,
        weights=Requests.read(requests, table.names) if requests else None,
        seconds=limit,
        stopped=stop_insisting,
        **wishes,
        **options,
    )
    if html:
        from discreet.report.frontier_html import write_frontier_html

        write_frontier_html(found, html, data=data_file(data["data"]))
    if as_json:
        print_json(found.to_json())
        return
    from rich.console import Console

    from discreet.report.frontier_text import print_frontier

    print_frontier(found, Console(highlight=False))
    if html:
        click.echo(f"Report: {html}")
