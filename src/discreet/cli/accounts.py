"""`discreet accounts`: who can log in to a table server; the first custodian is made here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from discreet.cli.ledger import database_option
from discreet.cli.options import json_option, print_json
from discreet.server.setting_checks import check_names

if TYPE_CHECKING:
    from discreet.server.people.accounts import Accounts

ROLES = ("analyst", "custodian", "auditor")
password_option = click.option(
    "--password-stdin", "from_stdin", is_flag=True, help="The password is the first line of input."
)


@click.group("accounts", epilog="Example: discreet accounts add maria --role custodian")
def accounts_command() -> None:
    """The accounts of a table server.

    Whoever can run this has the database, and with it every right: the first custodian is made
    here, others also on the server's pages. Each change is in the trail with the operator's name:
    DISCREET_OPERATOR, else who called sudo, else the user of the process.
    """
    check_names(os.environ)


@accounts_command.command("add", epilog="Example: discreet accounts add maria --role custodian")
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), required=True, help="What the account may do.")
@click.option("--email", help="Where notices go.")
@password_option
@database_option
def add_command(name: str, role: str, email: str | None, from_stdin: bool, database: str) -> None:
    """Make an account; its password is asked for."""
    with _accounts(database) as accounts:
        made = accounts.create(name, role, _password(from_stdin), email=email)
    click.echo(f"{made.name} is {role}", err=True)


@accounts_command.command("list", epilog="Example: discreet accounts list --json")
@database_option
@json_option
def list_command(database: str, as_json: bool) -> None:
    """Print the accounts, and the keys that are in use."""
    from dataclasses import asdict

    with _accounts(database) as accounts:
        users, keys = accounts.users(), accounts.keys()
    if as_json:
        print_json({"accounts": [asdict(u) for u in users], "keys": [asdict(k) for k in keys]})
        return
    if not users:
        click.echo("There is no account.")
    for user in users:
        more = ", second factor" if user.second_factor else ""
        more += f", by {user.issuer}" if user.issuer else ""
        more += "" if user.active else ", closed"
        click.echo(f"{user.name}  {user.role}{more}, since {user.created_at[:10]}")
        for key in keys:
            if key.user_id == user.id and key.revoked_at is None:
                used = f"used {key.last_used_at[:10]}" if key.last_used_at else "never used"
                click.echo(f"  key {key.id}: {key.name}, since {key.created_at[:10]}, {used}")


@accounts_command.command("password", epilog="Example: discreet accounts password maria")
@click.argument("name")
@password_option
@database_option
def password_command(name: str, from_stdin: bool, database: str) -> None:
    """Give an account another password.

    It is logged out everywhere; its keys stay.
    """
    with _accounts(database) as accounts:
        user = accounts.find(name)
        accounts.change_password(user.id, _password(from_stdin))
    click.echo(f"{user.name} has a new password", err=True)


@accounts_command.command("email", epilog="Example: discreet accounts email maria m@example.org")
@click.argument("name")
@click.argument("address", required=False)
@database_option
def email_command(name: str, address: str | None, database: str) -> None:
    """Say where notices for an account go.

    Without an address there are none.
    """
    _with_user(database, name, lambda accounts, id: accounts.set_email(id, address))
    click.echo(f"{name} has {'a new' if address else 'no'} e-mail address", err=True)


@accounts_command.command("no-factor", epilog="Example: discreet accounts no-factor maria")
@click.argument("name")
@database_option
def no_factor_command(name: str, database: str) -> None:
    """Remove an account's second factor.

    For when the device and the recovery codes are lost.
    """

    def remove(accounts: Accounts, user_id: int) -> None:
        from discreet.server.people.actors import By
        from discreet.server.people.second_factor import remove_factor

        remove_factor(accounts, user_id, By.operator())

    _with_user(database, name, remove)
    click.echo(f"{name} has no second factor", err=True)


@accounts_command.command("deactivate", epilog="Example: discreet accounts deactivate maria")
@click.argument("name")
@database_option
def deactivate_command(name: str, database: str) -> None:
    """Close an account at once, with its sessions and keys. Its entries in the ledger stay."""
    _with_user(database, name, lambda accounts, id: accounts.set_active(id, False))
    click.echo(f"{name} is closed", err=True)


@accounts_command.command("activate", epilog="Example: discreet accounts activate maria")
@click.argument("name")
@database_option
def activate_command(name: str, database: str) -> None:
    """Open a closed account again; it needs new keys."""
    _with_user(database, name, lambda accounts, id: accounts.set_active(id, True))
    click.echo(f"{name} is open", err=True)


@accounts_command.command("role", epilog="Example: discreet accounts role maria auditor")
@click.argument("name")
@click.argument("role", type=click.Choice(ROLES))
@database_option
def role_command(name: str, role: str, database: str) -> None:
    """Give an account another role; its sessions and keys end."""
    _with_user(database, name, lambda accounts, id: accounts.set_role(id, role))
    click.echo(f"{name} is {role}", err=True)


@accounts_command.command("key", epilog="Example: discreet accounts key maria --name nightly")
@click.argument("user")
@click.option("--name", required=True, help="What the key is for.")
@database_option
def key_command(user: str, name: str, database: str) -> None:
    """Print a new key for the API. It is shown this once."""
    with _accounts(database) as accounts:
        key = accounts.make_key(accounts.find(user).id, name)
    click.echo(key)


@accounts_command.command("revoke", epilog="Example: discreet accounts revoke 3")
@click.argument("key", type=click.IntRange(1))
@database_option
def revoke_command(key: int, database: str) -> None:
    """End a key, by its number.

    It is the one in `list`, and after dk_ in the key.
    """
    with _accounts(database) as accounts:
        accounts.revoke_key(key)
    click.echo(f"key {key} is revoked", err=True)


@contextmanager
def _accounts(database: str) -> Iterator[Accounts]:
    from discreet.errors import LedgerError

    try:
        from discreet.server.ledger.database import open_database
        from discreet.server.people.accounts import Accounts
    except ModuleNotFoundError as error:
        raise LedgerError(
            f"accounts need {error.name}; install it with pip install 'discreet[server]'."
        ) from None
    opened = open_database(database)
    try:
        yield Accounts(opened)
    finally:
        opened.close()


def _with_user(database: str, name: str, work: Callable[[Accounts, int], None]) -> None:
    with _accounts(database) as accounts:
        work(accounts, accounts.find(name).id)


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    asked: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    return asked
