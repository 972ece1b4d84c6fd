"""What commands have in common: reading DATA, a policy, and printing JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from discreet.cli.completion import complete_data

if TYPE_CHECKING:
    from discreet.data.reading import Reading
    from discreet.decision.law.policy import Policy
    from discreet.table.cells import Cells
    from discreet.table.table import Table

# the options of `data_options`: they make a `Reading`, and with DATA they are those of `read_data`
HOW = (
    *("count", "codebook", "table", "variables", "impossible"),
    *("records", "crosstab", "totals", "without", "bands"),
)
READING = ("data", *HOW)

Command = TypeVar("Command", bound=Callable[..., Any])


class Number(click.FloatRange):
    """A number of the range that is neither infinite nor nan, which lies in every range of click.

    >>> Number(0, min_open=True).convert("2.5", None, None)
    2.5
    """

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):
            from discreet.errors import DataError

            name = param.opts[0] if param else "the number"
            raise DataError(f"{name} is {found}; give a finite number, like 2.5.")
        return found

    def _describe_range(self) -> str:
        """For the help; nothing if there is no range."""
        return "" if self.min is self.max is None else super()._describe_range()


SECONDS = Number(0, min_open=True)

json_option = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on standard output."
)


def effort_options(command: Command) -> Command:
    """How much work an answer may cost, and what only stops it."""
    command = click.option(
        "--limit",
        "seconds",
        type=SECONDS,
        callback=lambda ctx, param, value: math.inf if value is None else value,
        metavar="SECONDS",
        help="Stop then, with what there is; no limit unless given. It never decides an answer.",
    )(command)
    return click.option(
        "--effort",
        type=Number(0, min_open=True),
        default=1.0,
        show_default=True,
        metavar="TIMES",
        help="So many times the usual work, the same on every machine.",
    )(command)


def workers_option(command: Command) -> Command:
    """Who does the work of a command that spreads it."""
    return click.option(
        "--workers",
        metavar="N|ADDRESS",
        expose_value=False,
        callback=_hire,
        help="So many at once, or the workers of a dask scheduler; the answer is the same.",
    )(command)


def _hire(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    if value is not None:
        from discreet.spreading import workers

        ctx.with_resource(workers(value))


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


named_option = click.option(
    "--cell",
    "named",
    multiple=True,
    metavar="A=X,B=Y",
    help="This cell, of the table or a margin, in place of --cells; can be repeated.",
)


def named_cells(table: Table, texts: tuple[str, ...]) -> Cells:
    """Cells by their categories; a comma within a category stays there."""
    from discreet.data.impossible import NEXT
    from discreet.errors import DataError

    found = []
    for text in texts:
        parts = [part.partition("=") for part in NEXT.split(text)]
        if not all(name.strip() and equals for name, equals, _ in parts):
            raise DataError(f"--cell {text!r} is no cell; write A=X,B=Y.")
        found.append({name.strip(): category.strip() for name, _, category in parts})
    return table.named(*found)


records_option = click.option(
    "--records", is_flag=True, help="Each row is a person, whatever it looks like."
)


def how_to_read(command: Command) -> Command:
    """What DATA is, where it looks like something else."""
    for option in reversed(
        (
            records_option,
            click.option(
                "--crosstab",
                metavar="NAME",
                help="DATA is a cross-tab: its columns are the categories of NAME.",
            ),
            click.option(
                "--totals",
                type=click.Choice(["drop", "keep"]),
                help="Rows that are sums of others: leave them out, or count them.",
            ),
            click.option(
                "--drop-totals",
                "totals",
                flag_value="drop",
                help="The same as --totals drop.",
            ),
        )
    ):
        command = option(command)
    return command


def large_option(command: Command) -> Command:
    """`--large`: cells published beside the margins."""
    return click.option(
        "--large",
        type=click.IntRange(1),
        metavar="N",
        help="Every cell with a count of N or more is published too; the others are then below N.",
    )(command)


def data_options(command: Command) -> Command:
    """DATA and how to read it."""
    command = how_to_read(command)
    for option in reversed(
        (
            click.argument("data", shell_complete=complete_data),
            click.option(
                "--count", metavar="COLUMN", help="DATA has one cell a row, counted here."
            ),
            click.option(
                "--codebook", metavar="FILE", help="TOML, DDI or SDMX: categories, roles, labels."
            ),
            click.option(
                "--table",
                metavar="NAME",
                help="Of a database or a file: its table, sheet or frame.",
            ),
            click.option("--variables", metavar="A,B,C", help="Classify by these columns only."),
            click.option(
                "--without",
                metavar="A,B",
                help="These columns classify nobody: identifiers, weights, free text.",
            ),
            click.option(
                "--band",
                "bands",
                multiple=True,
                metavar="A=WIDTH",
                help="Group the numbers of A: 10000, or cut points 0,10000,50000, or quantiles:5; "
                "none: each number is a category.",
            ),
            click.option(
                "--impossible",
                multiple=True,
                metavar="A=X,B=Y",
                help="Nobody can be in A=X and B=Y; none: those that look so can.",
            ),
        )
    ):
        command = option(command)
    return command


checkpoint_option = click.option(
    "--checkpoint",
    metavar="FOLDER",
    help="Keep what is counted there, part by part, and go on from it after a failure; "
    "confidential.",
)


def reading_of(options: dict[str, Any]) -> Reading:
    """How DATA is read, out of the options of a command; they are taken out of these."""
    from discreet.data.reading import Reading

    names = (*HOW, "checkpoint")
    return Reading.typed({name: options.pop(name) for name in names if name in options})


def read_data(data: str, **options: Any) -> Table:
    """The table behind the data options."""
    from discreet.data.database import hidden
    from discreet.look.progress import working
    from discreet.table.load import read

    how = reading_of(options)
    assert not options, f"nothing reads {[*options]}"
    with working(f"reading {hidden(data)}"):
        found = read(data, how)
    for coding in found.codings:
        if not coding.denied:
            click.echo(f"discreet: {coding}", err=True)
    return found


def data_file(data: str) -> Path | str:
    """The file behind DATA, for its hash; a URL without its password."""
    from discreet.data.database import hidden
    from discreet.data.examples import PREFIX, find_example
    from discreet.data.readers.fixed import at_layout

    if data.startswith(PREFIX):
        return find_example(data).path
    path = Path(data) if Path(data).is_file() else at_layout(Path(data))[0]
    return path if path.is_file() else hidden(data)


def read_policy(policy: str | None, changes: tuple[str, ...]) -> Policy:
    from discreet.decision.law.policy import Policy

    return (Policy.read(policy) if policy else Policy()).set(changes)


def print_json(document: object) -> None:
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))
