"""`discreet ledger`: does a table server's ledger hold? Export, backup and restore."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.options import data_options, json_option, print_json
from discreet.server.setting_checks import check_names

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from discreet.server.ledger.chain import VerificationView
    from discreet.server.ledger.trail import TrailVerification

database_option = click.option(
    "--database",
    metavar="URL",
    envvar="DISCREET_DATABASE",
    show_envvar=True,
    default="sqlite:///discreet.db",
    show_default=True,
    help="Where the server keeps its ledgers.",
)
dataset_option = click.option("--dataset", metavar="SLUG", help="Only this data set's.")


@click.group(
    "ledger",
    epilog="Example: discreet ledger verify --database sqlite:///discreet.db",
)
def ledger_command() -> None:
    """The table server's ledger of what was asked and decided.

    Each entry holds the hash of the one before. Exit code 0: done, and the ledger holds; 1: it
    does not.
    """
    check_names(os.environ)


@ledger_command.command("verify", epilog="Example: discreet ledger verify --dataset tract")
@database_option
@dataset_option
@click.option(
    "--head",
    metavar="NUMBER:HASH",
    help="Noted before; the ledger must still go through it. With --dataset.",
)
@click.option(
    "--trail",
    "trail_head",
    metavar="NUMBER:HASH",
    help="Noted before; the trail must still go through it.",
)
@json_option
@click.pass_context
def verify_command(
    ctx: click.Context,
    database: str,
    dataset: str | None,
    head: str | None,
    trail_head: str | None,
    as_json: bool,
) -> None:
    """Is anything changed, missing or out of order?

    Looks at every entry and publication. So too the trail of accounts, unless a --dataset is named.
    Prints the head of each. Note it elsewhere: whoever rewrites all of a ledger is only found by a
    head from before.
    """
    from discreet.errors import LedgerError
    from discreet.server.ledger.chain import verify, verify_all
    from discreet.server.ledger.database import open_database
    from discreet.server.ledger.trail import verify_trail

    if head is not None and dataset is None:
        raise LedgerError("--head belongs to one ledger; name its --dataset.")
    with closing(open_database(database)) as opened, opened.read() as session:
        if dataset is None:
            found = verify_all(session)
        else:
            found = [verify(session, _find(session, dataset), head=head)]
        asked = dataset is None or trail_head is not None
        trail = verify_trail(session, head=trail_head) if asked else None
    holds = all(one.holds for one in found) and (trail is None or trail.holds)
    if as_json:
        _print_json(holds, found, trail)
    else:
        _print(found, trail)
    ctx.exit(0 if holds else 1)


@ledger_command.command("export", epilog="Example: discreet ledger export > ledger.jsonl")
@database_option
@dataset_option
def export_command(database: str, dataset: str | None) -> None:
    """Print everything but the accounts, a JSON line each.

    Data sets, entries, publications and the trail.
    """
    from discreet.server.ledger.backup import export, export_all
    from discreet.server.ledger.database import open_database
    from discreet.server.ledger.schema import Dataset

    with closing(open_database(database)) as opened, opened.read() as session:
        if dataset is None:
            lines = export_all(session)
        else:
            lines = export(session, session.get_one(Dataset, _find(session, dataset)))
        for line in lines:
            click.echo(line)


@ledger_command.command("backup", epilog="Example: discreet ledger backup monday.db")
@click.argument("file")
@database_option
def backup_command(file: str, database: str) -> None:
    """Write all of the database to FILE, also while the server runs.

    FILE is a database for SQLite, JSON lines for PostgreSQL. It has the accounts: keep it safe.
    """
    from discreet.server.ledger.backup import backup
    from discreet.server.ledger.database import open_database

    with closing(open_database(database)) as opened:
        backup(opened, file)
    click.echo(f"wrote {file}", err=True)


@ledger_command.command(
    "restore", epilog="Example: discreet ledger restore monday.db --database sqlite:///new.db"
)
@click.argument("file")
@database_option
@json_option
def restore_command(file: str, database: str, as_json: bool) -> None:
    """Fill an empty database from FILE, and verify it.

    FILE is a backup or an export. Either kind of database can be restored from the other's backup.
    A FILE whose ledger does not hold is refused.
    """
    from discreet.server.ledger.backup import restore
    from discreet.server.ledger.database import open_database
    from discreet.server.ledger.trail import verify_trail

    found = restore(file, database)
    with closing(open_database(database)) as opened, opened.read() as session:
        trail = verify_trail(session)
    if as_json:
        _print_json(True, found, trail)
    else:
        _print(found, trail)


@ledger_command.command(
    "accept",
    epilog='Example: discreet ledger accept people.csv --codebook new.toml --name "Maria Ebert" '
    '--reason "Income is asked no more"',
)
@data_options
@click.option("--slug", metavar="NAME", help="The data set's name in addresses; else of DATA.")
@click.option("--datasets", metavar="FILE", help="TOML: further data sets, as for serve.")
@click.option("--dataset", metavar="SLUG", help="Accept that of this data set; else of DATA.")
@click.option("--name", metavar="NAME", help="The custodian who accepts the change.")
@click.option("--reason", metavar="TEXT", help="Why; the ledger keeps it.")
@database_option
@json_option
@click.pass_context
def accept_command(
    ctx: click.Context,
    /,
    variables: str | None,
    impossible: tuple[str, ...],
    slug: str | None,
    datasets: str | None,
    dataset: str | None,
    name: str | None,
    reason: str | None,
    database: str,
    as_json: bool,
    **data: Any,
) -> None:
    """Accept a changed codebook: what the data mean from now on.

    DATA and codebook are those that the server is started with. Says what changed; with --name and
    --reason it is accepted, if all that is out passes the policy so. Exit code 1: it is not
    accepted yet.
    """
    from discreet.errors import DataError, DisclosureError
    from discreet.server.launch import DataSpec, accept_codebook, read_specs, slug_of
    from discreet.server.people.actors import operator
    from discreet.server.settings import Settings

    if impossible:
        raise DataError(
            f"--impossible {impossible[0]!r} is not for the server; say it in the codebook."
        )
    if bool(name and name.strip()) != bool(reason and reason.strip()):
        raise DisclosureError(
            "give both, --name and --reason: the ledger keeps who accepted it, and why."
        )
    chosen = tuple(one.strip() for one in variables.split(",")) if variables else None
    spec = DataSpec(slug=slug or slug_of(data["data"]), variables=chosen, **data)
    specs = [*(read_specs(datasets) if datasets else ()), spec]
    wanted, actor = dataset or spec.slug, f"{name}, by operator {operator()}"
    change, done = accept_codebook(Settings(database=database), specs, wanted, actor, reason)
    if as_json:
        print_json(
            {"dataset": wanted, "changes": change.changes, "accepted": change.accepted or done}
        )
    elif change.accepted:
        click.echo(f"The codebook of {wanted} is as it was accepted.")
    else:
        for sentence in change.changes:
            click.echo(sentence)
        if done:
            click.echo(f"accepted for {wanted}", err=True)
        elif reason:
            click.echo(f"proposed for {wanted}: another custodian must accept it, too", err=True)
        else:
            click.echo("not accepted yet: give --name and --reason", err=True)
    ctx.exit(0 if change.accepted or done else 1)


@ledger_command.command("migrate", epilog="Example: discreet ledger migrate")
@database_option
def migrate_command(database: str) -> None:
    """Make the database, or bring an older one to this version."""
    from discreet.data.database import hidden
    from discreet.server.ledger.database import migrate

    migrate(database)
    click.echo(f"{hidden(database)} is ready", err=True)


def _find(session: Session, slug: str) -> int:
    from sqlalchemy import select

    from discreet.errors import LedgerError
    from discreet.server.ledger.schema import Dataset

    found = session.execute(select(Dataset.slug, Dataset.id))
    known: dict[str, int] = {row.slug: row.id for row in found}
    if slug not in known:
        raise LedgerError(f"there is no data set {slug!r}; there is {', '.join(known) or 'none'}.")
    return known[slug]


def _print_json(
    holds: bool, found: list[VerificationView], trail: TrailVerification | None
) -> None:
    print_json(
        {
            "holds": holds,
            "ledgers": [one.model_dump() for one in found],
            "trail": None if trail is None else trail.model_dump(),
        }
    )


def _print(found: list[VerificationView], trail: TrailVerification | None) -> None:
    from rich.console import Console

    from discreet.decision.law.verdict import Verdict
    from discreet.look.words import plural
    from discreet.report.terminal import item, say

    console = Console(highlight=False)
    if not found:
        click.echo("The database has no data set.")
    for one in found:
        size = f"{plural(one.entries, 'entry', 'entries')}, {plural(one.publications, 'table')}"
        verdict = Verdict.PASS if one.holds else Verdict.FAIL
        item(console, verdict, f"{one.dataset}: {size}", bold=True)
        for sentence in (*map(str, one.problems), *one.notes):
            say(console, sentence)
        click.echo(f"  head {one.head}")
    if trail is not None and (trail.entries or trail.problems):
        verdict = Verdict.PASS if trail.holds else Verdict.FAIL
        size = plural(trail.entries, "entry", "entries")
        item(console, verdict, f"trail of accounts: {size}", bold=True)
        for problem in trail.problems:
            say(console, str(problem))
        click.echo(f"  head {trail.head}")
