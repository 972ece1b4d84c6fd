"""`discreet identify`: who could be found in a released file, and what harm."""

from __future__ import annotations

import click

from discreet.cli.options import Number, data_file, records_option
from discreet.cli.showing import page_options, show


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
    type=Number(0, 1),
    help="The intruder acts on links at least so probable; 0.5, or 0 with losses.",
)
@click.option("--harm", "harm_file", metavar="FILE", help="TOML: the sensitive column and costs.")
@click.option(
    "--distance",
    type=click.Choice(["absolute", "squared"]),
    default="absolute",
    show_default=True,
    help="Of the matching risk.",
)
@click.option(
    "--calibrate",
    type=click.IntRange(1),
    metavar="FILES",
    help="Draw so many files as the intruder believes they arise: how far to trust a link.",
)
@click.option(
    "--harmless",
    "limit",
    type=Number(0, 1),
    metavar="LIMIT",
    help="How much less precise an intruder keeps the highest risk at or below this.",
)
@records_option
@page_options
def identify_command(
    source: str,
    released: str,
    id: str | None,
    keys: str | None,
    intruder: str,
    act: float | None,
    harm_file: str | None,
    distance: str,
    calibrate: int | None,
    limit: float | None,
    records: bool,
    html: str | None,
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
    from discreet.risk.linkage.calibration import calibration
    from discreet.risk.linkage.harm import Costs, harm
    from discreet.risk.linkage.harmless import harmless
    from discreet.risk.linkage.identification import identify
    from discreet.risk.linkage.matching import matching

    person = Intruder.read(intruder)
    if keys:
        person = person.only_keys([name.strip() for name in keys.split(",")])
    costs = Costs.read(harm_file) if harm_file else None
    if costs is not None and id is None:
        raise DataError("--harm needs --id, to know which links are true.")
    also = () if costs is None else (costs.sensitive, *costs.predict)
    groups = () if costs is None else costs.groups
    with working("reading"):
        people = read_records(
            source, released, person, id=id, also=also, groups=groups, records=records
        )
    with working("linking records"):
        found = identify(people, person, act=act)
        near = None if id is None else matching(people, person, found.data, distance=distance)
        felt = None if costs is None else harm(people, found, costs)
    with working("drawing files"):
        trust = None if calibrate is None else calibration(people, person, files=calibrate)
    with working("blurring what is known"):
        safe = None if limit is None else harmless(people, person, limit=limit, act=found.act)
    files = {"Source": data_file(source), "Released": data_file(released), "Intruder": intruder}
    files |= {"Harm": harm_file} if harm_file else {}
    parts = {"matching": near, "harm": felt, "calibration": trust, "harmless": safe}
    more = {name: None if part is None else part.to_json() for name, part in parts.items()}
    show(
        found,
        html=html,
        document=found.to_json() | more if as_json else None,
        intruder=person,
        near=near,
        felt=felt,
        trust=trust,
        safe=safe,
        files=files,
    )
