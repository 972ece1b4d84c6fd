"""`discreet choose`: which release serves its users within a risk limit."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import Number, data_options, read_data
from discreet.cli.showing import page_options, show


def _example(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Print the users file and end."""
    if not value or ctx.resilient_parsing:
        return
    from discreet.decision.users.usersfile import EXAMPLE

    click.echo(EXAMPLE, nl=False)
    ctx.exit()


@click.command(
    "choose",
    epilog="Example: discreet choose example:tract --users users.toml --limit 0.4 "
    '--release "Race*Income + Gender" --release "Race*Income + Income*Gender"',
)
@data_options
@click.option("--users", required=True, metavar="FILE", help="TOML: intruders and scientists.")
@click.option(
    "--release",
    "formulas",
    multiple=True,
    metavar="F",
    help='A candidate: "Race*Income + Income*Gender", or @FILE; once for each.',
)
@click.option(
    "--releases", metavar="FILE", help="Candidates: a formula a line, or TOML with names."
)
@click.option("--nothing", is_flag=True, help="A candidate that releases nothing but the total.")
@click.option(
    "--frontier",
    "frontiers",
    type=click.IntRange(1),
    multiple=True,
    metavar="B",
    help="A candidate: a large release that leaves small counts a width of B.",
)
@click.option("--limit", type=Number(), required=True, metavar="A", help="Of the risk, at most.")
@click.option(
    "--example",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_example,
    help="Print a users file for example:tract.",
)
@page_options
@click.pass_context
def choose_command(
    ctx: click.Context,
    /,
    users: str,
    formulas: tuple[str, ...],
    releases: str | None,
    nothing: bool,
    frontiers: tuple[int, ...],
    limit: float,
    html: str | None,
    as_json: bool,
    **data: Any,
) -> None:
    """Which release to choose: the most useful within a limit.

    A users file names intruders and scientists: what each wants to know, believes and does. Risk is
    what the agency loses by the worst intruder, utility what scientists do not lose. The map shows
    both for every candidate.
    """
    from discreet.decision.law.verdict import Verdict
    from discreet.decision.users.candidates import candidates
    from discreet.decision.users.choose import choose
    from discreet.decision.users.usersfile import Users
    from discreet.look.progress import working

    table = read_data(**data)
    named = Users.read(users, table)
    with working("weighing releases"):
        masks = candidates(table, formulas, file=releases, nothing=nothing, frontiers=frontiers)
        found = choose(masks, risk=named, limit=limit)
    document = found.to_json() if as_json else None
    show(found, html=html, document=document, data=data["data"], users=users)
    ctx.exit(0 if found.verdict is Verdict.PASS else 1)
