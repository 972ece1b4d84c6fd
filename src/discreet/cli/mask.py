"""`discreet mask`: tables or records that can be published."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import Number, data_file, data_options, effort_options, read_policy
from discreet.cli.sheets import (
    keep_unsafe,
    read_office,
    refuse_unsafe,
    sheet_options,
    unsafe_option,
)
from discreet.cli.showing import page_options, show, writable

TABLES = ("suppress", "round", "cell-key", "perturb", "merge")
RECORDS = (
    *("recode", "blank", "pram", "swap", "top-code", "noise", "rank-swap", "microaggregate"),
    *("univariate", "sample", "synthesise", "private"),
)


@click.command(
    "mask",
    epilog="Examples: discreet mask people.csv --tables tables.toml --out release; "
    "discreet mask people.csv --method microaggregate --with columns=income,age --with k=5 "
    "--keys income,age --out masked.csv",
)
@data_options
@click.option("--release", metavar="F", help='Or the margins of a formula: "Race*Income + Sex".')
@sheet_options
@click.option(
    "--method",
    type=click.Choice([*TABLES, *RECORDS]),
    default="suppress",
    show_default=True,
    help="The mask: of tables, or from recode on of records.",
)
@click.option(
    "--with", "options", multiple=True, metavar="KEY=VALUE", help="records: an option of the mask."
)
@click.option("--keys", metavar="A,B,C", help="records: what an intruder knows of people.")
@click.option("--sensitive", metavar="A,B,C", help="records: what nobody should learn of them.")
@click.option("--household", metavar="COLUMN", help="records: who belongs together.")
@click.option(
    "--intruder",
    metavar="FILE",
    callback=writable,
    help="records: write what an intruder knows, for identify.",
)
@click.option("--policy", metavar="FILE", help="TOML with the thresholds (discreet policy).")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change a policy key.")
@click.option(
    "--released",
    multiple=True,
    metavar="FOLDER",
    help="A release that is out already; judged together.",
)
@click.option("--optimal", is_flag=True, help="suppress: the cheapest pattern, with its gap.")
@click.option(
    "--cost",
    type=click.Choice(["value", "one", "log"]),
    default="value",
    show_default=True,
    help="suppress: what a hidden cell costs.",
)
@click.option(
    "--known",
    type=Number(0),
    metavar="PERCENT",
    help="suppress: how well every value is known before, either way.",
)
@click.option("--previous", metavar="FOLDER", help="suppress: prefer what last year's release hid.")
@click.option(
    "--keep",
    multiple=True,
    metavar="TABLE",
    help="suppress: hide nothing in this table but what the rules forbid; totals: no total.",
)
@click.option(
    "--base",
    type=Number(0, min_open=True),
    default=3.0,
    show_default=True,
    help="round: to multiples of this.",
)
@click.option(
    "--rounding",
    type=click.Choice(["controlled", "unbiased", "conventional", "random"]),
    default="controlled",
    show_default=True,
    help="round: how.",
)
@click.option("--ptable", metavar="FILE", help="cell-key: transition probabilities (ptable).")
@click.option(
    "--secret",
    envvar="DISCREET_MASK_SECRET",
    metavar="TEXT",
    help="cell-key: 16 letters or more, the same every year; else one is made and forgotten.",
)
@click.option(
    "--seed",
    type=int,
    metavar="N",
    help="round, perturb, records: draw the same again, for a trial.",
)
@click.option(
    "--out", metavar="OUT", callback=writable, help="A folder, or .xlsx, .csv, .json, .jsonstat."
)
@click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(["csv", "xlsx", "json", "json-stat", "sdmx-csv"]),
    help="Files in the folder; csv unless given.",
)
@click.option(
    "--layout",
    type=click.Choice(["long", "wide", "both"]),
    default="long",
    show_default=True,
    help="Of CSV.",
)
@click.option("--symbol", default="x", show_default=True, help="Of a hidden cell.")
@click.option("--decimals", type=click.IntRange(0, 12), help="Of sums.")
@unsafe_option
@click.option("--force", is_flag=True, help="Overwrite, even with FAIL or REVIEW.")
@effort_options
@page_options
@click.pass_context
def mask_command(
    ctx: click.Context,
    /,
    release: str | None,
    tables: str | None,
    method: str,
    options: tuple[str, ...],
    keys: str | None,
    sensitive: str | None,
    household: str | None,
    intruder: str | None,
    policy: str | None,
    changes: tuple[str, ...],
    released: tuple[str, ...],
    optimal: bool,
    cost: str,
    known: float | None,
    previous: str | None,
    keep: tuple[str, ...],
    base: float,
    rounding: str,
    ptable: str | None,
    secret: str | None,
    seed: int | None,
    out: str | None,
    formats: tuple[str, ...],
    layout: str,
    symbol: str,
    decimals: int | None,
    unsafe: str | None,
    force: bool,
    effort: float,
    seconds: float,
    html: str | None,
    as_json: bool,
    **data: Any,
) -> None:
    """Write tables or records that can be published.

    Tables: suppression, controlled rounding, cell keys, perturbation that keeps what is out, or
    merging, made for all together. Records: recoding, blanks, swapping, noise, groups, samples,
    synthetic data. Each is judged by an intruder who knows the mask. Nothing is written unless the
    verdict is PASS, or --force says so.
    """
    from discreet.decision.batch.masking import mask
    from discreet.decision.law.verdict import Verdict
    from discreet.look.progress import working

    office = read_policy(policy, changes)
    if method in RECORDS:
        from discreet.cli.maskrecords import mask_records

        mask_records(
            ctx, method, options, office,
            keys=keys, sensitive=sensitive, seed=seed, out=out, intruder=intruder, force=force,
            html=html, as_json=as_json, household=household, tables=tables, release=release,
            released=released, unsafe=unsafe, **data,
        )  # fmt: skip
    refuse_unsafe(unsafe, html, out)
    if options or keys or sensitive or household or intruder:
        from discreet.errors import DataError

        raise DataError(
            f"{method} is a mask of tables; --with, --keys and the like are of records."
        )
    found = read_office(policy=office, tables=tables, release=release, released=released, **data)
    given: dict[str, Any] = {"seed": seed, "base": base, "kind": rounding, "secret": secret}
    given |= {"optimal": optimal, "known": known, "must": _must(keep, found.sheets)}
    given["costs"] = _costs(cost, previous, found.records)
    if ptable:
        from discreet.masks.cellkey.files import read_ptable

        given["ptable"] = read_ptable(ptable)
    with working("masking"):
        made = mask(
            found.records,
            found.sheets,
            office,
            method=method,
            out=found.out,
            data=data_file(data["data"]),
            effort=effort,
            seconds=seconds,
            **given,
        )
    from discreet.report.written.manifest import record_of

    written: list[Any] = []
    if out and (made.verdict is Verdict.PASS or force):
        written = made.write(
            out, symbol=symbol, layout=layout, formats=formats or ("csv",), decimals=decimals,
            record=record_of(office), force=force,
        )  # fmt: skip
    keep_unsafe(made.unsafe, unsafe)
    show(made, html=html, document=made.to_json() if as_json else None, private=True)
    if out and not as_json:
        said = (
            f"Written: {out}" if written else f"Nothing was written: {made.verdict}; see --force."
        )
        click.echo(said)
    ctx.exit(0 if made.verdict is Verdict.PASS else 1)


def _must(keep: tuple[str, ...], sheets: Any) -> Any:
    """The rows that must be printed unless a rule forbids it."""
    from discreet.errors import DataError
    from discreet.sheets.grouping import Grouping

    names = [sheet.name for sheet in sheets]
    if strange := [name for name in keep if name not in (*names, "totals")]:
        raise DataError(f"--keep names {strange[0]!r}; say totals, or one of {', '.join(names)}.")
    if not keep:
        return None

    def whole(grouping: Grouping) -> list[bool]:
        return [len(line.codes) == grouping.variable.size for line in grouping.lines]

    def must(case: Any) -> Any:
        found = ~case.rows_of()
        found[:] = False
        for sheet, rows in zip(case.system.sheets, case.system.places, strict=True):
            if sheet.name in keep:
                found[rows.ravel()] = True
            if "totals" in keep:
                for axis, grouping in enumerate(sheet.groupings):
                    lines = [i for i, total in enumerate(whole(grouping)) if total]
                    found[rows.take(lines, axis).ravel()] = True
        return found

    return must


def _costs(cost: str, previous: str | None, records: Any) -> Any:
    """What hiding a cell costs; next to nothing if last year's release hid it."""
    if previous is None:
        return cost
    from discreet.masks.suppress.problem import priced
    from discreet.sheets.released import read_released

    earlier = read_released(previous, records.variables)
    hidden = {
        (sheet.name, cell)
        for sheet, shut in zip(earlier.sheets, earlier.hidden, strict=True)
        for cell, there in zip(sheet.labels(), shut.ravel(), strict=True)
        if there
    }

    def costs(case: Any) -> Any:
        price = priced(case.values, cost)
        for sheet, rows in zip(case.system.sheets, case.system.places, strict=True):
            for row, cell in zip(rows.ravel(), sheet.labels(), strict=True):
                if (sheet.name, cell) in hidden:
                    price[row] *= 0.01
        return price

    return costs
