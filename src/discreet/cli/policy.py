"""`discreet policy`: a policy file to start from."""

from __future__ import annotations

import click

from discreet.cli.options import json_option, print_json, read_policy


@click.command("policy", epilog="Example: discreet policy --set small.width=5 > office.toml")
@click.option("--policy", metavar="FILE", help="Start from this policy instead of the defaults.")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change a policy key.")
@json_option
def policy_command(policy: str | None, changes: tuple[str, ...], as_json: bool) -> None:
    """Print a policy with every key, its value and what it means."""
    found = read_policy(policy, changes)
    if as_json:
        print_json({"name": found.name, "locked": sorted(found.locked)} | found.to_dict())
    else:
        click.echo(found.to_toml())
