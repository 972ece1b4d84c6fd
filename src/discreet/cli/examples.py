"""`discreet examples`: what ships."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import json_option, print_json


@click.command("examples", epilog="Example: discreet examples --json")
@json_option
def examples_command(as_json: bool) -> None:
    """The data sets with known answers, and where each comes from."""
    from discreet.data.examples import EXAMPLES
    from discreet.errors import DataError
    from discreet.table.load import load

    rows: list[dict[str, Any]] = []
    for example in EXAMPLES:
        row: dict[str, Any] = {"name": example.name, "source": example.source}
        try:
            table = load(f"example:{example.name}")
        except DataError as error:
            row |= {"variables": None, "shape": None, "total": None, "missing": str(error)}
        else:
            shape = list(table.shape)
            row |= {"variables": list(table.names), "shape": shape, "total": table.total}
        rows.append(row)
    if as_json:
        print_json(rows)
        return
    for row in rows:
        click.echo(f"example:{row['name']}")
        click.echo(f"  {row['source']}")
        if row["total"] is None:
            click.echo(f"  {row['missing']}")
        else:
            size = " x ".join(map(str, row["shape"]))
            click.echo(f"  {', '.join(row['variables'])}: {size} cells, {row['total']:,} people")
