"""`discreet compare`: masks side by side, and the one to choose."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import (
    HOW,
    data_options,
    read_policy,
    reading_of,
    workers_option,
)
from discreet.cli.showing import page_options, show, writable


@click.command(
    "compare",
    epilog="Example: discreet compare people.csv --masks masks.toml --set masks.limit=0.05 "
    "--html masks.html",
)
@data_options
@click.option("--masks", required=True, metavar="FILE", help="TOML: masks, keys, users.")
@click.option("--policy", metavar="FILE", help="TOML with the thresholds (discreet policy).")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change a policy key.")
@workers_option
@click.option("--cache", metavar="FOLDER", help="Keep what was found of each mask: numbers only.")
@click.option(
    "--out",
    metavar="FILE",
    callback=writable,
    help="Write the chosen data (.csv, .parquet), and beside them how they were made.",
)
@click.option(
    "--intruder",
    metavar="FILE",
    callback=writable,
    help="Write what an intruder knows, for identify.",
)
@click.option("--force", is_flag=True, help="Overwrite, and write with REVIEW too.")
@page_options
@click.pass_context
def compare_command(
    ctx: click.Context,
    /,
    masks: str,
    policy: str | None,
    changes: tuple[str, ...],
    cache: str | None,
    out: str | None,
    intruder: str | None,
    force: bool,
    html: str | None,
    as_json: bool,
    **data: Any,
) -> None:
    """Which mask to choose: the most useful within a limit.

    Every mask of a masks file is made, attacked by an intruder who knows it, and weighed. The map
    shows risk and utility of all, the choice and why. What --out writes is drawn anew, from secret
    bits that are kept nowhere, and is judged itself.
    """
    from discreet.decision.compare.compare import compare
    from discreet.decision.compare.plan import Plan

    plan = Plan.read(masks)
    found = compare(
        data.pop("data"),
        plan,
        read_policy(policy, changes),
        cache=cache,
        **reading(data, of_table=plan.of_table),
    )
    if (out or intruder) and found.best is not None:
        found = found.draw(found.best)
    finish(ctx, found, out=out, intruder=intruder, force=force, html=html, as_json=as_json)


def reading(data: dict[str, Any], *, of_table: bool) -> dict[str, Any]:
    """How DATA is read, in the words of `load` or of `read_file`."""
    from discreet.masks.records.reading import TAKES

    how = reading_of(data)
    if of_table:
        return {name: getattr(how, name) for name in HOW}
    how.check_only(*TAKES, "variables", why="is for a table, and records are masked here")
    return {name: getattr(how, name) for name in TAKES} | {"columns": how.variables}


def finish(
    ctx: click.Context,
    found: Any,
    *,
    out: str | None,
    intruder: str | None,
    force: bool,
    html: str | None,
    as_json: bool,
    name: str | None = None,
) -> None:
    """Write what was chosen, or by force the mask of that name; show the page and exit."""
    from discreet.decision.law.verdict import Verdict
    from discreet.report.written.masked_file import write_masked

    name = found.best or name
    good = name is not None and (found.verdict is Verdict.PASS or force)
    if good and (out or intruder):
        write_masked(found, out, name=name, intruder=intruder, force=force)
    show(found, html=html, document=found.to_json() if as_json else None)
    if out and not as_json:
        why = f"Nothing was written: {found.verdict}" + ("; see --force." if name else ".")
        click.echo(f"Written: {out}" if good else why)
    ctx.exit(0 if found.verdict is Verdict.PASS else 1)
