"""Accounts as rows: how they are found, how what is secret is kept, what ends with them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from hashlib import sha256

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session as Transaction

from discreet.errors import DisclosureError
from discreet.server.ledger.schema import ApiKey, Session, User

NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}")


class AccountError(DisclosureError):
    """A name, role, password or code that cannot be, or the last custodian."""


def user_row(session: Transaction, user_id: int, *, hold: bool = False) -> User:
    """The account; with `hold`, nobody else changes it until the end of the transaction."""
    found = session.get(User, user_id, with_for_update=hold) if fits(user_id) else None
    if found is None:
        raise AccountError(f"there is no account {user_id}.")
    return found


def user_named(session: Transaction, name: str) -> User | None:
    name = name.lower()
    found = select(User).where(User.name == name)
    return session.scalar(found) if NAME.fullmatch(name) else None


def cut_off(session: Transaction, user_id: int, at: str) -> None:
    """An account's sessions and keys end."""
    session.execute(delete(Session).where(Session.user_id == user_id))
    session.execute(
        update(ApiKey)
        .where(ApiKey.user_id == user_id, ApiKey.revoked_at.is_(None))
        .values(revoked_at=at)
    )


def fits(number: int) -> bool:
    """Databases know numbers up to this."""
    return 0 < number < 2**31


def digest(secret: str) -> str:
    """Enough for what is random; passwords are hashed slowly."""
    return sha256(as_bytes(secret)).hexdigest()


def as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def moment(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="microseconds")
