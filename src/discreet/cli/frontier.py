"""`discreet frontier`: what could be released at most."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import (
    READING,
    data_options,
    effort_options,
    large_option,
    read_data,
    read_policy,
    workers_option,
)
from discreet.cli.showing import page_options, show
from discreet.cli.stored import frontier_on_disk, left_on_disk


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
@large_option
@click.option("--seed", type=int, default=0, show_default=True, help="Of the searches.")
@effort_options
@workers_option
@page_options
def frontier_command(
    policy: str | None,
    changes: tuple[str, ...],
    requests: str | None,
    html: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """The most margins that can be released under a policy.

    The releasable set, as assess judges it. With --beta and no policy, widths alone are kept, and
    the first line says so; --set may then change keys of bounds.
    """
    from discreet.decision.frontier.frontier import frontier, widths_alone
    from discreet.utility.requests import Requests

    data = {key: options.pop(key) for key in READING}
    office = read_policy(policy, changes) if policy or changes else None
    if options["beta"] and changes and not policy and all(c.startswith("bounds.") for c in changes):
        office = widths_alone().set(changes)
    if (stored := left_on_disk(**data)) is not None:
        best = frontier_on_disk(stored, policy=policy or changes, requests=requests, **options)
        document = best.to_json() if as_json else None
        show(best, html=html, document=document, data=data["data"])
        return
    table = read_data(**data)
    wishes: Any = {key: options.pop(key) or () for key in ("first", "released", "never")}
    found = frontier(
        table,
        policy=office,
        weights=Requests.read(requests, table.names) if requests else None,
        **wishes,
        **options,
    )
    document = found.to_json() if as_json else None
    show(found, html=html, document=document, data=data["data"])
