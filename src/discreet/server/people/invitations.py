"""Invitations: a person sets their own password, once, with what a custodian handed on."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import ColumnElement, and_, delete, or_, select
from sqlalchemy.orm import Session as Transaction

from discreet.server.ledger.schema import Token
from discreet.server.ledger.trail import Event
from discreet.server.people.accounts import Accounts, UserView
from discreet.server.people.actors import By
from discreet.server.people.passwords import good
from discreet.server.people.register import AccountError, digest, moment, user_row

KIND = "invitation"
LIFE = timedelta(hours=72)
OVER = "the invitation was used, or replaced, or is too old; ask for a new one."


@dataclass(frozen=True)
class Invitation:
    token: str
    expires_at: str


def invite(accounts: Accounts, user_id: int, by: By) -> Invitation:
    """A new invitation; one that was made before no longer counts. The password stays till then."""
    account = accounts.local(user_id)
    if not account.active:
        raise AccountError("the account is closed; open it first.")
    token, now = secrets.token_urlsafe(32), accounts.clock()
    made = Invitation(token, moment(now + LIFE))
    with accounts.database.write() as session:
        user_row(session, user_id, hold=True)
        forget(session, user_id, moment(now))
        number = accounts.note(session, Event.INVITED, by, user_id)
        session.add(
            Token(
                id=digest(token),
                kind=KIND,
                user_id=user_id,
                value={"entry": number},
                created_at=moment(now),
                expires_at=made.expires_at,
            )
        )
    return made


def invited(accounts: Accounts, token: str) -> UserView:
    """Whom an invitation is for."""
    found = select(Token.user_id).where(_open(accounts, token))
    with accounts.database.read() as session:
        user_id = session.scalar(found)
    account = None if user_id is None else accounts.user(user_id)
    if account is None or not account.active:
        raise AccountError(OVER)
    return account


def accept(accounts: Accounts, token: str, password: str, address: str | None) -> UserView:
    """Set the password; the invitation ends, and so does whoever is logged in. Keys stay."""
    account = invited(accounts, token)
    hashed = accounts.passwords.hash(good(account.name, password))
    used = delete(Token).where(_open(accounts, token)).returning(Token.value)
    with accounts.database.write() as session:
        value = session.scalar(used)
        if value is None:
            raise AccountError(OVER)
        accounts.keep_password(session, account.id, hashed)
        by, said = By(str(account.id), address), f"the invitation of entry {value['entry']}"
        accounts.note(session, Event.INVITATION_USED, by, account.id, said)
    return account


def open_invitations(accounts: Accounts) -> dict[int, str]:
    """Accounts with an invitation that can still be used, and until when."""
    now = moment(accounts.clock())
    found = select(Token.user_id, Token.expires_at).where(
        Token.kind == KIND, Token.expires_at > now
    )
    with accounts.database.read() as session:
        return {row.user_id: row.expires_at for row in session.execute(found)}


def forget(session: Transaction, user_id: int, now: str) -> None:
    """This account's invitation, and whatever else is over."""
    own = (Token.kind == KIND) & (Token.user_id == user_id)
    session.execute(delete(Token).where(or_(own, Token.expires_at <= now)))


def _open(accounts: Accounts, token: str) -> ColumnElement[bool]:
    now = moment(accounts.clock())
    return and_(Token.id == digest(token), Token.kind == KIND, Token.expires_at > now)
