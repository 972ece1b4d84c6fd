"""`discreet knowledge`: what a table, rates or totals teach about one person, company or value."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.knowledge_beliefs import (
    VALUES,
    check_of_numbers,
    numbers_prior,
    prior_of_table,
    prior_options,
    value_options,
)
from discreet.cli.knowledge_hidden import check_hidden, hidden_options, withheld_of
from discreet.cli.knowledge_totals import check_rules, rule_options, ruled, totals_of
from discreet.cli.options import (
    HOW,
    READING,
    Command,
    Number,
    data_options,
    read_data,
    reading_of,
)
from discreet.cli.showing import page_options, show

if TYPE_CHECKING:
    from discreet.risk.knowledge.taught import Taught
    from discreet.risk.knowledge.withheld import Withheld

RATES, TOTALS = ("incidents", "companies"), ("total", "number", "minimum")


def _data_may_be_left_out(command: Command) -> Command:
    command = data_options(command)
    for parameter in command.__click_params__:  # type: ignore[attr-defined]
        if isinstance(parameter, click.Argument):
            parameter.required = False
    return command


@click.command(
    "knowledge",
    epilog="Example: discreet knowledge example:estates --target Estate --group Region "
    "--uncertainty largest --limit 0.25",
)
@_data_may_be_left_out
@click.option("--target", metavar="V", help="The category that an intruder wants to know.")
@click.option("--group", metavar="G", help="What is known of the person: a variable, or A*B.")
@click.option(
    "--uncertainty",
    metavar="U",
    help="entropy, largest, weighted:NUMBERS|FILE, inverse, two-sided:A:B, variance, relative, "
    "absolute, over-under:A:B, lengths, loss:FILE. Else largest; of rates variance, of totals "
    "relative.",
)
@click.option("--limit", type=Number(), required=True, metavar="T", help="Of what is measured.")
@click.option(
    "--measure",
    type=click.Choice(["knowledge", "gain", "relative-gain"]),
    default="knowledge",
    show_default=True,
    help="The uncertainty left (at least the limit), or what is gone of it (at most).",
)
@click.option(
    "--sampling-fraction",
    "fraction",
    type=Number(),
    default=1.0,
    metavar="F",
    help="DATA is a sample: the share of people in it.",
)
@click.option(
    "--prior",
    metavar="FILE",
    help="Believed before: CSV of categories (of rates, of alphas) with probability or weight; "
    "or of probabilities with the quantile of a rate or alpha.",
)
@prior_options
@hidden_options
@value_options
@click.option("--incidents", metavar="N|COLUMN", help="Rates: incidents of all companies alike.")
@click.option("--companies", metavar="N|COLUMN", help="Rates: how many companies.")
@click.option("--exposure", metavar="N|COLUMN", help="Rates: exposure years of one company.")
@click.option("--insider", metavar="N|COLUMN", help="Another company's or value, that is known.")
@click.option("--total", metavar="N|COLUMN", help="Totals: of all values.")
@click.option("--number", metavar="N|COLUMN", help="Totals: how many values.")
@click.option("--minimum", metavar="N|COLUMN", help="Totals: no value is smaller.")
@click.option("--alpha", type=Number(), help="Totals: of the Pareto distribution; else estimated.")
@rule_options
@page_options
@click.pass_context
def knowledge_command(
    ctx: click.Context, /, html: str | None, as_json: bool, **options: Any
) -> None:
    """What a release teaches about one person, company or value.

    Of a table DATA, the category V of somebody in it; of rates and totals, whose options are
    numbers or columns of DATA, one of the companies or values. Exit code 1: beyond the limit.
    """
    from discreet.look.progress import working

    with working("forming beliefs"):
        taught = _taught(**options)
    document = taught.to_json() if as_json else None
    show(taught, html=html, document=document, data=options["data"])
    ctx.exit(0 if taught.within else 1)


def _taught(**options: Any) -> Taught | Withheld:
    from discreet.errors import DataError

    totals = any(options[name] is not None for name in (*TOTALS, "alpha", "alphas"))
    rates = any(options[name] is not None for name in (*RATES, "exposure"))
    rates = rates or (options["insider"] is not None and not totals)
    if rates and totals:
        raise DataError("--incidents and --total are two questions; ask one at a time.")
    check_rules(options, of_table=not (rates or totals))
    hides = check_hidden(options, of_table=not (rates or totals))
    if not (rates or totals):
        return _of_table(options, hides)
    how = reading_of({name: options[name] for name in HOW})
    how.check_only("table", why="goes with a table, not with rates or totals")
    for name in RATES if rates else TOTALS:
        if options[name] is None:
            raise DataError(f"--{name} is missing: give a number, or a column of DATA.")
    if options["group"] or options["fraction"] != 1:
        raise DataError(
            "--group and --sampling-fraction go with a table, not with rates or totals."
        )
    check_of_numbers(options)
    return _of_rates(options) if rates else _of_totals(options)


def _ask(data: Any, options: dict[str, Any], **more: Any) -> Taught:
    from discreet.risk.knowledge.ask import knowledge

    asked = {key: options[key] for key in ("limit", "uncertainty", "measure")}
    return knowledge(data, **asked, **more)


def _of_table(options: dict[str, Any], hides: bool) -> Taught | Withheld:
    from discreet.errors import DataError

    if not options["data"] or not options["target"]:
        raise DataError("name DATA and its --target; or give --incidents, or --total.")
    table = read_data(**{key: options[key] for key in READING})
    table.variable(options["target"])
    prior = prior_of_table(options, table)
    if hides:
        return withheld_of(options, table, prior)
    asked = {key: options[key] for key in ("target", "group", "fraction", *VALUES)}
    return _ask(table, options, **asked, prior=prior)


def _of_rates(options: dict[str, Any]) -> Taught:
    from discreet.risk.knowledge.taught import Rates

    rows = _rows(options, (*RATES, "exposure", "insider"))
    classes = [
        Rates(
            row["label"],
            _whole(row["incidents"], "--incidents"),
            _whole(row["companies"], "--companies"),
            row.get("exposure"),
            (_whole(row["insider"], "--insider"),) if "insider" in row else (),
        )
        for row in rows
    ]
    taught = _ask(classes, options, prior=numbers_prior(options))
    return ruled(taught, classes, classes, options, _rows)


def _of_totals(options: dict[str, Any]) -> Taught:
    from discreet.errors import DataError

    if options["alpha"] is not None and options["prior"]:
        raise DataError("--alpha says that it is known, --prior that it is not; give one.")
    published, seen = totals_of(_rows(options, (*TOTALS, "insider")), _whole)
    alpha = options["alpha"] if options["alpha"] is not None else numbers_prior(options)
    return ruled(_ask(seen, options, prior=alpha), published, seen, options, _rows)


def _rows(options: dict[str, Any], names: tuple[str, ...]) -> list[dict[str, Any]]:
    """One row of numbers, or as many as DATA has if one of them is a column."""
    from discreet.errors import DataError

    asked = {name: options[name] for name in names if options[name] is not None}
    columns: dict[str, list[Any]] = _columns(options) if options["data"] else {}
    used = [text for text in asked.values() if text in columns]
    rows = len(columns[used[0]]) if used else 1
    labels = columns.get(options["target"] or "", [f"row {i + 1}" for i in range(rows)])
    if options["target"] and options["target"] not in columns:
        raise DataError(f"DATA has no column {options['target']!r}; it has {', '.join(columns)}.")
    found: list[dict[str, Any]] = []
    for place in range(rows):
        row: dict[str, Any] = {"label": str(labels[place]) if used else "one of them"}
        for name, text in asked.items():
            value = columns[text][place] if text in columns else text
            try:
                row[name] = float(value)
                if not math.isfinite(row[name]):
                    raise ValueError
            except (TypeError, ValueError):
                where = f"row {place + 1}" if text in columns else f"--{name}"
                raise DataError(
                    f"{where} has {value!r} where a number is needed; --{name} is a number, or a "
                    "column of DATA."
                ) from None
        found.append(row)
    return found


def _columns(options: dict[str, Any]) -> dict[str, list[Any]]:
    from discreet.data.examples import PREFIX, find_example
    from discreet.data.source import engine_errors
    from discreet.data.sources import open_source

    data = options["data"]
    source = open_source(
        find_example(data).path if data.startswith(PREFIX) else data, table=options["table"]
    )
    with engine_errors(source.name):
        columns: dict[str, list[Any]] = source.records.to_pyarrow().to_pydict()
    target, book = options["target"], source.codebook
    if target in columns and book is not None:
        columns[target] = [book.label(target, value) for value in columns[target]]
    return columns


def _whole(number: float, what: str) -> int:
    from discreet.errors import DataError

    if not number.is_integer():
        raise DataError(f"{what} is {number:g}; give a whole number.")
    return int(number)
