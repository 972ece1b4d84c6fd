"""`discreet together`: what several masked releases of the same data tell together."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import READING, data_options, read_data, read_policy
from discreet.cli.showing import page_options, show


@click.command(
    "together",
    epilog="Example: discreet together people.csv --released 2025 --released 2026 --html both.html",
)
@data_options
@click.option(
    "--released",
    multiple=True,
    required=True,
    metavar="FOLDER",
    help="A release of DATA that is out or is to be, as mask wrote it; can be repeated.",
)
@click.option("--ptable", metavar="FILE", help="Transition probabilities of cell keys (ptable).")
@click.option("--policy", metavar="FILE", help="TOML with the thresholds (discreet policy).")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change a policy key.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of what is sampled.")
@page_options
@click.pass_context
def together_command(
    ctx: click.Context,
    /,
    released: tuple[str, ...],
    ptable: str | None,
    policy: str | None,
    changes: tuple[str, ...],
    seed: int,
    html: str | None,
    as_json: bool,
    **data: Any,
) -> None:
    """What several masked releases of DATA tell together.

    Each is rounded, perturbed or suppressed. The intruder knows how each was made and updates on
    all of them. Exit code 1: more small counts are known than the policy's masks.limit, or that is
    not proven.
    """
    from discreet.decision.law.verdict import Verdict
    from discreet.decision.together.together import together
    from discreet.decision.together.told import Told
    from discreet.look.progress import working
    from discreet.masks.cellkey.files import read_ptable

    rules = read_policy(policy, changes)
    table = read_data(**{key: data[key] for key in READING})
    known = read_ptable(ptable) if ptable else None
    with working("forming beliefs"):
        told = [Told.read(folder, table, ptable=known) for folder in dict.fromkeys(released)]
        found = together(table, told, rules, seed=seed)
    show(found, html=html, document=found.to_json() if as_json else None, data=data["data"])
    ctx.exit(0 if found.verdict is Verdict.PASS else 1)
