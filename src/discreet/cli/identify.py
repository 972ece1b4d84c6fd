"""`discreet identify`: who could be found in a released file, and what harm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.options import Number, data_file, records_option, workers_option
from discreet.cli.showing import page_options, show

if TYPE_CHECKING:
    from discreet.intruder.linkage.model import Intruder


@click.command(
    "identify",
    epilog="Example: discreet identify --source people.csv --released masked.csv --id id "
    "--keys age,sex --intruder intruder.toml",
)
@click.option("--source", required=True, metavar="A", help="What the agency holds: CSV, Parquet.")
@click.option("--released", required=True, metavar="B", help="The masked records.")
@click.option("--id", "id", metavar="COLUMN", help="In both files; says which links are true.")
@click.option("--keys", metavar="A,B,C", help="What the intruder knows; else all described keys.")
@click.option(
    "--intruder",
    "intruders",
    required=True,
    multiple=True,
    metavar="FILE",
    help="TOML: how keys are masked. Repeat it for several intruders, apart and together.",
)
@click.option(
    "--act",
    type=Number(0, 1),
    help="The intruder acts on links at least so probable; 0.5, or 0 with losses.",
)
@click.option("--harm", "harm_file", metavar="FILE", help="TOML: the sensitive column and costs.")
@click.option(
    "--distance",
    type=click.Choice(["absolute", "squared", "log", "log-squared"]),
    default="absolute",
    show_default=True,
    help="Of the matching risk; log: of the logarithms of lognormal keys.",
)
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="KEY=W",
    help="Of a key in the distance; 1 unless given. Repeat it for several keys.",
)
@click.option(
    "--compare",
    type=click.Choice(["with-replacement"]),
    help="Beside equation (1): links as if records were drawn with replacement.",
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
@workers_option
@page_options
def identify_command(
    source: str,
    released: str,
    id: str | None,
    keys: str | None,
    intruders: tuple[str, ...],
    act: float | None,
    harm_file: str | None,
    distance: str,
    weights: tuple[str, ...],
    compare: str | None,
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
    from discreet.risk.linkage.harm import Costs

    people = [Intruder.read(one) for one in intruders]
    if keys:
        names = [name.strip() for name in keys.split(",")]
        people = [person.only_keys(names) for person in people]
    costs = Costs.read(harm_file) if harm_file else None
    if costs is not None and id is None:
        raise DataError("--harm needs --id, to know which links are true.")
    if weights and id is None:
        raise DataError("--weight needs --id: matching asks whether the nearest record is true.")
    asked = {
        "id": id, "records": records, "act": act, "costs": costs, "distance": distance,
        "weights": _weights(weights), "compare": compare, "calibrate": calibrate, "limit": limit,
    }  # fmt: skip
    each = [_identified(source, released, person, **asked) for person in people]
    files = {"Source": data_file(source), "Released": data_file(released)}
    files |= {"Harm": harm_file} if harm_file else {}
    documents = [_document(one) for one in each] if as_json else []
    if len(each) == 1:
        files["Intruder"] = intruders[0]
        first = dict(each[0])
        found = first.pop("found")
        show(found, html=html, document=documents[0] if as_json else None, files=files, **first)
        return
    from discreet.risk.linkage.several import several

    all_ = several([one["found"] for one in each], names=intruders)
    files |= {f"Intruder {k}": name for k, name in enumerate(intruders, 1)}
    document = None
    if as_json:
        said = [{"intruder": name} | one for name, one in zip(intruders, documents, strict=True)]
        document = {"act": all_.act, "together": all_.to_json(), "intruders": said}
    show(all_, html=html, document=document, files=files, intruders=people, parts=each)


def _identified(source: str, released: str, person: Intruder, **asked: Any) -> dict[str, Any]:
    """All that is asked about one intruder, as the page takes it."""
    from discreet.intruder.linkage.records import read_records
    from discreet.look.progress import working
    from discreet.risk.linkage.calibration import calibration
    from discreet.risk.linkage.harm import harm
    from discreet.risk.linkage.harmless import harmless
    from discreet.risk.linkage.identification import identify
    from discreet.risk.linkage.matching import matching
    from discreet.risk.linkage.replacement import with_replacement

    costs, id, limit = asked["costs"], asked["id"], asked["limit"]
    also = () if costs is None else (costs.sensitive, *costs.predict)
    groups = () if costs is None else costs.of_source
    with working("reading"):
        people = read_records(
            source, released, person, id=id, also=also, groups=groups, records=asked["records"]
        )
    with working("linking records"):
        found = identify(people, person, act=asked["act"])
        near = felt = drawn = None
        if id is not None:
            how = {"distance": asked["distance"], "weights": asked["weights"]}
            near = matching(people, person, found.data, **how)
        if costs is not None:
            felt = harm(people, found, costs)
        if asked["compare"]:
            drawn = with_replacement(found, person)
    with working("drawing files"):
        many = asked["calibrate"]
        trust = None if many is None else calibration(people, person, files=many)
    with working("blurring what is known"):
        safe = None if limit is None else harmless(people, person, limit=limit, act=found.act)
    return {"found": found, "intruder": person, "near": near, "felt": felt, "trust": trust,
            "safe": safe, "approximate": drawn}  # fmt: skip


PARTS = {
    "matching": "near",
    "harm": "felt",
    "calibration": "trust",
    "harmless": "safe",
    "with_replacement": "approximate",
}


def _document(one: Mapping[str, Any]) -> dict[str, Any]:
    """Of one intruder; what was not asked is null."""
    more = {name: one[part] and one[part].to_json() for name, part in PARTS.items()}
    return dict(one["found"].to_json() | more)


def _weights(given: Sequence[str]) -> dict[str, float]:
    """KEY=W, each a number from 0 on."""
    from discreet.errors import DataError

    found = {}
    for one in given:
        name, _, value = one.rpartition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            name = ""
        if not name:
            raise DataError(f"the weight {one!r} is no KEY=W; write, for example, age=2.")
    return found
