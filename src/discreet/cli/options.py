"""What commands have in common: reading DATA, a policy, and printing JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from discreet.decision.policy import Policy
    from discreet.table.table import Table

Command = TypeVar("Command", bound=Callable[..., Any])

json_option = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on standard output."
)
release_option = click.option(
    "--release",
    "release",
    required=True,
    metavar="F",
    help='Margins to release: "Race*Income + Income*Gender", or @FILE.',
)


small_option = click.option(
    "--small",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Counts from 1 to this are small.",
)


cells_option = click.option(
    "--cells",
    type=click.Choice(["small", "nonzero", "all"]),
    default="small",
    show_default=True,
    help="Which cells.",
)


def data_options(command: Command) -> Command:
    """DATA and how to read it."""
    for option in reversed(
        (
            click.argument("data"),
            click.option(
                "--count", metavar="COLUMN", help="DATA has one cell a row, counted here."
            ),
            click.option(
                "--codebook", metavar="FILE", help="TOML: categories, roles, hierarchies."
            ),
            click.option("--table", metavar="NAME", help="The table of a database URL."),
            click.option("--variables", metavar="A,B,C", help="Classify by these columns only."),
        )
    ):
        command = option(command)
    return command


def read_data(
    data: str, count: str | None, codebook: str | None, table: str | None, variables: str | None
) -> Table:
    """The table behind the data options."""
    from discreet.data.database import hidden
    from discreet.look.progress import working
    from discreet.table.load import load

    columns = [name.strip() for name in variables.split(",")] if variables else None
    with working(f"reading {hidden(data)}"):
        return load(data, count=count, codebook=codebook, table=table, variables=columns)


def data_file(data: str) -> Path | str:
    """The file behind DATA, for its hash; a URL without its password."""
    from discreet.data.database import hidden
    from discreet.data.examples import PREFIX, find_example

    if data.startswith(PREFIX):
        return find_example(data).path
    return Path(data) if Path(data).is_file() else hidden(data)


def read_policy(policy: str | None, changes: tuple[str, ...]) -> Policy:
    from discreet.decision.policy import Policy

    return (Policy.read(policy) if policy else Policy()).set(changes)


def print_json(document: object) -> None:
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))
