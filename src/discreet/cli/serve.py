"""`discreet serve`: the table server."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.interrupts import calm
from discreet.cli.options import data_options, effort_options


@click.command(
    "serve",
    epilog="Example: discreet serve example:czech --set server.rule=myopic",
)
@data_options
@click.option("--policy", metavar="P", help="The policy, with its section [server].")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change a policy key.")
@click.option("--frontier", metavar="F", help="What the static rule serves; else searched for.")
@click.option("--listed", metavar="F", help="What can be asked for, if the policy is curated.")
@click.option("--slug", metavar="NAME", help="The data set's name in addresses.")
@click.option("--title", default="", help="What the data set is called.")
@click.option("--datasets", metavar="FILE", help="TOML: further data sets, older vintages first.")
@click.option("--previous", metavar="SLUG", help="DATA is a newer vintage of this data set.")
@click.option("--apart", is_flag=True, help="DATA is of other people than what looks like it.")
@effort_options
@click.option("--database", metavar="URL", help="Of the ledger; else sqlite:///discreet.db.")
@click.option("--host", help="Address to listen on; else 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65535), help="Else 8000.")
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Processes; more than one need PostgreSQL.",
)
@click.option("--http", is_flag=True, help="Cookies without TLS: to try it out on one machine.")
def serve_command(
    data: str,
    variables: str | None,
    impossible: tuple[str, ...],
    changes: tuple[str, ...],
    slug: str | None,
    datasets: str | None,
    workers: int,
    http: bool,
    **options: Any,
) -> None:
    """Run the table server.

    The public asks for margins, and a ledger remembers. Further settings are read from DISCREET_...
    in the environment; see the docs.
    """
    import warnings

    from discreet.errors import DataError

    try:
        from discreet.server.launch import DataSpec, read_specs, serve, slug_of
        from discreet.server.settings import Settings
    except ModuleNotFoundError as error:
        raise DataError(
            f"the server needs {error.name}; install it with pip install 'discreet[server]'."
        ) from None
    if impossible:
        raise DataError(
            f"--impossible {impossible[0]!r} is not for the server: every vintage needs it, so say "
            "it in the codebook."
        )
    given = {key: options.pop(key) for key in ("database", "host", "port") if key in options}
    changed: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if http:
        changed["cookies_over_http"] = True
    settings = Settings(**changed)
    spec = DataSpec(
        slug=slug or slug_of(data),
        data=data,
        variables=tuple(v.strip() for v in variables.split(",")) if variables else None,
        set=changes,
        **options,
    )
    specs = [*(read_specs(datasets) if datasets else ()), spec]

    def tell(text: str) -> None:
        calm()  # requests under way are finished first
        click.echo(text)

    warnings.simplefilter("ignore")  # what the engine says of its work can name cells
    serve(settings, specs, workers=workers, tell=tell)
