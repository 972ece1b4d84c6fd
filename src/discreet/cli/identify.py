"""`discreet identify`: who could be found in a released file, and what harm."""

from __future__ import annotations

import click

from discreet.cli.options import json_option, print_json


@click.command(
    "identify",
    epilog="Example: discreet identify --source people.csv --released masked.csv --id id "
    "--keys age,sex --intruder intruder.toml",
)
@click.option("--source", required=True, metavar="A", help="What the agency holds: CSV, Parquet.")
@click.option("--released", required=True, metavar="B", help="The masked records.")
@click.option("--id", "id", metavar="COLUMN", help="In both files; says which links are true.")
@click.option("--keys", metavar="A,B,C", help="What the intruder knows; else all described keys.")
@click.option("--intruder", required=True, metavar="FILE", help="TOML: how keys are masked.")
@click.option(
    "--act",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    help="The intruder acts on links at least so probable.",
)
@click.option("--harm", "harm_file", metavar="FILE", help="TOML: the sensitive column and costs.")
@click.option(
    "--distance",
    type=click.Choice(["absolute", "squared"]),
    default="absolute",
    show_default=True,
    help="Of the matching risk.",
)
@json_option
def identify_command(
    source: str,
    released: str,
    id: str | None,
    keys: str | None,
    intruder: str,
    act: float,
    harm_file: str | None,
    distance: str,
    as_json: bool,
) -> None:
    """Who could be found in a released file, and what harm.

    Links what an intruder knows of the source to the released records. Persons are shown by row
    number only; what is printed is for the custodian.
    """
    from discreet.errors import DataError
    from discreet.intruder.linkage.model import Intruder
    from discreet.intruder.linkage.records import read_records
    from discreet.look.progress import working
    from discreet.risk.harm import Costs, harm
    from discreet.risk.identification import identify
    from discreet.risk.matching import matching

    person = Intruder.read(intruder)
    if keys:
        person = person.only_keys([name.strip() for name in keys.split(",")])
    costs = Costs.read(harm_file) if harm_file else None
    if costs is not None and id is None:
        raise DataError("--harm needs --id, to know which links are true.")
    also = () if costs is None else (costs.sensitive, *costs.predict)
    groups = () if costs is None else costs.groups
    with working("reading"):
        records = read_records(source, released, person, id=id, also=also, groups=groups)
    with working("linking records"):
        found = identify(records, person, act=act)
        near = None if id is None else matching(records, person, found.data, distance=distance)
        felt = None if costs is None else harm(records, found, costs)
    if as_json:
        matched = None if near is None else near.to_json()
        more = {"matching": matched, "harm": None if felt is None else felt.to_json()}
        print_json(found.to_json() | more)
        return
    from rich.console import Console

    from discreet.report.identify_text import print_identification

    print_identification(found, near, felt, Console(highlight=False))
