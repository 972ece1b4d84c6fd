"""`discreet uniques`: who stands out in a file of records."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.completion import complete_data
from discreet.cli.options import checkpoint_option, how_to_read
from discreet.cli.showing import page_options, show


@click.command(
    "uniques",
    epilog="Example: discreet uniques people.csv --keys Sex,Age,Town --weights W --sensitive Ill",
)
@click.argument("data", shell_complete=complete_data)
@click.option("--keys", required=True, metavar="A,B,C", help="Columns that an intruder may know.")
@click.option("--weights", metavar="W", help="Column of survey weights: people a record is for.")
@click.option("--population", type=click.IntRange(1), metavar="N", help="People it is sampled of.")
@click.option("--sensitive", metavar="S", help="Column whose values must differ among those alike.")
@click.option("--household", metavar="H", help="Column that says who lives together.")
@click.option(
    "--missing",
    type=click.Choice(["own", "any"]),
    default="own",
    show_default=True,
    help="A missing key is a category of its own, or matches anything.",
)
@click.option("--k", type=click.IntRange(1), metavar="K", help="Look-alikes that each must have.")
@click.option(
    "--model",
    metavar="M",
    help="Of population uniques: two-way, independence, negative-binomial, or a formula.",
)
@click.option(
    "--largest",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    metavar="M",
    help="Special uniques: sets of up to so many keys.",
)
@click.option("--count", metavar="COLUMN", help="DATA has one cell a row, counted here.")
@click.option("--codebook", metavar="FILE", help="TOML: categories, weights, sampling fraction.")
@click.option("--table", metavar="NAME", help="Of a database or a file: its table, sheet or frame.")
@how_to_read
@checkpoint_option
@page_options
@click.pass_context
def uniques_command(
    ctx: click.Context,
    /,
    data: str,
    keys: str,
    k: int | None,
    html: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Who stands out in a file of records, and at what risk.

    k-anonymity, individual risk, population and special uniques. The most exposed records are shown
    by row number only. Exit code 1: a class is smaller than K.
    """
    from discreet.look.progress import working
    from discreet.risk.uniques.uniques import uniques

    with working("counting"):
        found = uniques(data, keys, **options)
    passed = k is None or found.anonymity.k >= k
    document = None
    if as_json:
        verdict = None if k is None else "PASS" if passed else "FAIL"
        below = None if k is None else found.anonymity.below(k)
        document = {"verdict": verdict, "k": k, "below_k": below} | found.to_json()
    show(found, html=html, document=document, k=k, data=data)
    ctx.exit(0 if passed else 1)
