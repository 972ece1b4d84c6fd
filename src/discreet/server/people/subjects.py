"""Accounts that somebody else vouches for: known by issuer and subject, with the roles they say."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as Transaction

from discreet.server.ledger.schema import Role, User
from discreet.server.ledger.trail import Event
from discreet.server.people.accounts import EMAIL, Accounts
from discreet.server.people.actors import By
from discreet.server.people.openid import Vouched
from discreet.server.people.register import cut_off, moment, user_named

ATTEMPTS = 5  # if others make accounts at the same time


def account_of(accounts: Accounts, issuer: str, found: Vouched, address: str | None) -> int | None:
    """The account's number, made if it is new and brought to its role; None: it may not in.

    Who has lost the role loses what it gave: sessions and keys end.
    """
    for attempt in range(ATTEMPTS):
        try:
            with accounts.database.write() as session:
                return _brought(accounts, session, issuer, found, By(f"issuer {issuer}", address))
        except IntegrityError:
            if attempt + 1 == ATTEMPTS:
                raise
    raise AssertionError


def _brought(
    accounts: Accounts, session: Transaction, issuer: str, found: Vouched, by: By
) -> int | None:
    now = moment(accounts.clock())
    held = select(User).where(User.issuer == issuer, User.subject == found.subject)
    user = session.scalar(held.with_for_update())
    if user is None:
        return None if found.role is None else _new(accounts, session, issuer, found, by)
    if user.role != (found.role or Role.ANALYST) or found.role is None:
        cut_off(session, user.id, now)
    lost = found.role is None and user.vouched_at is not None
    before, user.role = user.role, found.role or Role.ANALYST.value
    user.vouched_at = now if found.role else None
    if found.email is not None and EMAIL.fullmatch(found.email):
        user.email = found.email
    if before != user.role or lost:
        said = f"from {before} to {found.role or 'none'}, by the claims"
        accounts.note(session, Event.ROLE, by, user.id, said)
    return user.id if user.active and found.role else None


def _new(accounts: Accounts, session: Transaction, issuer: str, found: Vouched, by: By) -> int:
    now = moment(accounts.clock())
    user = User(
        name=_free(session, found.name, issuer),
        role=found.role or "",
        active=True,
        created_at=now,
        issuer=issuer,
        subject=found.subject,
        vouched_at=now,
        email=found.email if found.email and EMAIL.fullmatch(found.email) else None,
    )
    session.add(user)
    session.flush()
    accounts.note(session, Event.CREATED, by, user.id, f"{user.name}, {user.role}")
    return user.id


def _free(session: Transaction, wished: str, issuer: str) -> str:
    """A name that no account has: accounts are never taken for one because of their names."""
    bare = re.sub(r"[^a-z0-9._@-]+", "-", wished.lower()).lstrip("._@-")[:40] or "user"
    host = re.sub(r"[^a-z0-9.-]+", "", (urlsplit(issuer).hostname or "").lower())[:18]
    names = [bare, f"{bare}@{host}", *(f"{bare}.{n}" for n in range(2, 1_000))]
    return next(name for name in names if user_named(session, name) is None)
