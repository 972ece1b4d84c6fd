"""What commands on sheets have in common: the list of tables, what is summed, what is out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from discreet.cli.options import Command, reading_of
from discreet.cli.showing import writable

if TYPE_CHECKING:
    from discreet.arrays import Floats
    from discreet.decision.batch.out import Behind
    from discreet.decision.batch.unsafe import UnsafeCells
    from discreet.decision.law.policy import Policy
    from discreet.sheets.records import Records
    from discreet.sheets.sheet import Measure, Sheet

MEASURE = ("value", "weight", "holding", "shadow", "request")


class Office(NamedTuple):
    """The records, the sheets that are wanted or out, and what is printed of masked ones."""

    records: Records
    sheets: tuple[Sheet, ...]
    out: dict[str, Floats | Behind]


def sheet_options(command: Command) -> Command:
    """`--tables`, and the columns of a table of sums."""
    for option in reversed(
        (
            click.option(
                "--tables",
                metavar="FILE",
                help="A list of tables with totals: .toml, .xlsx or .txt, one a line.",
            ),
            click.option("--value", metavar="COLUMN", help="Add this up: tables of sums."),
            click.option("--weight", metavar="COLUMN", help="Sampling weights."),
            click.option("--holding", metavar="COLUMN", help="Who owns a contributor."),
            click.option("--shadow", metavar="COLUMN", help="Judge this in place of the value."),
            click.option("--request", metavar="COLUMN", help="Marks who asked to be protected."),
        )
    ):
        command = option(command)
    return command


unsafe_option = click.option(
    "--unsafe",
    metavar="FILE",
    callback=writable,
    help="tables: write every unsafe cell, its rule, what it needs and has: confidential.",
)


def refuse_unsafe(unsafe: str | None, *others: str | None) -> None:
    """Before long work: the file of unsafe cells may not be another, nor lie in a release."""
    if unsafe is not None:
        from discreet.report.unsafe import check_unsafe_path

        check_unsafe_path(unsafe, *others)


def keep_unsafe(cells: UnsafeCells, unsafe: str | None) -> None:
    """Write them where a person said."""
    if unsafe is not None:
        from discreet.report.unsafe import write_unsafe

        write_unsafe(cells, unsafe)


def measured(**columns: str | None) -> bool:
    return any(columns.get(name) for name in MEASURE)


def read_office(
    data: str,
    policy: Policy,
    *,
    tables: str | None,
    release: str | None,
    released: tuple[str, ...],
    **options: Any,
) -> Office:
    """DATA, and the sheets of a list or of a formula, with folders of releases that are out.

    What the policy hides is read, too.
    """
    import dataclasses

    from discreet.data.database import hidden
    from discreet.decision.batch.out import out_of
    from discreet.decision.law.rules.categories import hidden_categories
    from discreet.errors import DataError
    from discreet.look.progress import working
    from discreet.sheets.reading import sheets_of, sheets_of_formula
    from discreet.sheets.released import measures_of, read_manifest, read_released, variables_of
    from discreet.sheets.sheet import Measure, Status

    if (tables is None) == (release is None):
        raise DataError("say what is wanted by --tables FILE or by --release F, one of the two.")
    if options["variables"]:
        raise DataError("--variables goes without --tables: the tables name their variables.")
    measure = Measure(**{name: options.pop(name) for name in MEASURE})
    how, noted = reading_of(options), hidden_categories(policy)
    assert not options, f"nothing reads {[*options]}"
    with working(f"reading {hidden(data)}"):
        if tables is None:
            if released:
                raise DataError("releases that are out go with --tables FILE; list the tables.")
            assert release is not None
            found, sheets = sheets_of_formula(data, release, how, measure=measure, noted=noted)
            return Office(found, sheets, {})
        manifests = [read_manifest(folder) for folder in released]
        found, sheets = sheets_of(
            data,
            tables,
            how,
            measure=measure,
            also=dict.fromkeys(name for one in manifests for name in variables_of(one)),
            noted=noted,
            measures=[m for one in manifests for m in measures_of(one)],
        )
    # the list says who is behind a sum, or else the release that says most of it
    before = sorted(
        (m for one in manifests for m in measures_of(one)), key=lambda m: -len(m.columns)
    )
    asked = [*(sheet.measure for sheet in sheets), *before]
    out: dict[str, Floats | Behind] = {}
    for folder, manifest in zip(released, manifests, strict=True):
        earlier = read_released(folder, found.variables)
        for sheet, values, said_of in zip(
            earlier.sheets, earlier.values, manifest["tables"], strict=True
        ):
            name = f"{Path(folder).name}/{sheet.name}"
            alike = [m for m in asked if m.printed == sheet.measure.printed]
            changes: dict[str, Any] = {"name": name, "measure": _same_people(sheet, alike, folder)}
            sheets = (*sheets, dataclasses.replace(sheet, status=Status.OUT, **changes))
            out[name] = out_of(values, said_of)
    return Office(found, sheets, out)


def _same_people(sheet: Sheet, alike: list[Measure], folder: str) -> Measure:
    """The first measure of the same figures; refused if a release knew more of who is behind them.

    What it hides for owners or requests would else be judged as if nobody had any.
    """
    from discreet.errors import DataError

    for role in ("holding", "shadow", "request"):
        own, other = getattr(sheet.measure, role), getattr(alike[0], role)
        if own not in (None, other):
            said = f"{role} {other!r}" if other else f"no {role}"
            raise DataError(
                f"the release {folder!r} is out with the {role} {own!r} of the {sheet.measure}, "
                f"and now it has {said}; say {role} = {own!r} in the list of tables."
            )
    return alike[0]
