"""`discreet mask`: tables that can be published."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import Number, data_file, data_options, effort_options, read_policy
from discreet.cli.sheets import read_office, sheet_options
from discreet.cli.showing import page_options, show, writable

METHODS = ("suppress", "round", "cell-key", "perturb", "merge")


@click.command(
    "mask", epilog="Example: discreet mask people.csv --tables tables.toml --out release"
)
@data_options
@click.option("--release", metavar="F", help='Or the margins of a formula: "Race*Income + Sex".')
@sheet_options
@click.option(
    "--method", type=click.Choice(METHODS), default="suppress", show_default=True, help="The mask."
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
@click.option("--seed", type=int, metavar="N", help="round, perturb: draw the same again.")
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
    force: bool,
    effort: float,
    seconds: float,
    html: str | None,
    as_json: bool,
    **data: Any,
) -> None:
    """Write tables that can be published, and nothing else.

    Suppression, controlled rounding, cell keys, perturbation that keeps what is out, or merging:
    made for all tables together, and judged by an intruder who knows the mask. Nothing is written
    unless the verdict is PASS, or --force says so.
    """
    from discreet.decision.batch.masking import mask
    from discreet.decision.law.verdict import Verdict
    from discreet.look.progress import working

    office = read_policy(policy, changes)
    found = read_office(tables=tables, release=release, released=released, **data)
    options: dict[str, Any] = {"seed": seed, "base": base, "kind": rounding, "secret": secret}
    options |= {"optimal": optimal, "known": known, "must": _must(keep, found.sheets)}
    options["costs"] = _costs(cost, previous, found.records)
    if ptable:
        from discreet.masks.cellkey.files import read_ptable

        options["ptable"] = read_ptable(ptable)
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
            **options,
        )
    written: list[Any] = []
    if out and (made.verdict is Verdict.PASS or force):
        written = made.write(
            out, symbol=symbol, layout=layout, formats=formats or ("csv",), decimals=decimals,
            record={"policy": office.described}, force=force,
        )  # fmt: skip
    show(made, html=html, document=made.to_json() if as_json else None)
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
