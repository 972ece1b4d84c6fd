"""Accounts: users, their passwords and keys. Of what is secret only a hash is kept."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Literal, cast

from argon2 import PasswordHasher
from pydantic import Field
from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as Transaction

from discreet.server.ledger.database import Database
from discreet.server.ledger.schema import ApiKey, Role, Session, User
from discreet.server.ledger.trail import Event
from discreet.server.people.actors import By
from discreet.server.people.identity import RoleName, Visitor
from discreet.server.people.passwords import Passwords, good
from discreet.server.people.register import (
    NAME,
    AccountError,
    cut_off,
    digest,
    fits,
    moment,
    user_named,
    user_row,
)
from discreet.server.people.sessions import Sessions
from discreet.server.showing.shapes import View

__all__ = ["AccountError", "Accounts", "KeyView", "UserView"]

RoleOfAccount = Literal["analyst", "custodian", "auditor"]
KEY = re.compile(r"dk_([1-9][0-9]{0,8})_[A-Za-z0-9_-]{43}")
EMAIL = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
SELDOM = timedelta(hours=1)  # how often the use of a key is noted
VOUCHED = timedelta(days=30)  # keys rest if nobody vouched for the account for so long


class UserView(View):
    id: int
    name: str
    role: RoleOfAccount
    active: bool
    created_at: str
    email: str | None
    password: bool = Field(description="Is there one?")
    second_factor: bool
    issuer: str | None = Field(description="Who vouches for the account instead of a password.")


class KeyView(View):
    id: int
    user_id: int
    name: str
    created_at: str
    revoked_at: str | None
    last_used_at: str | None


class Accounts(Sessions):
    """Users, their keys and sessions. Who changes something, `by`, is the operator if not said."""

    def __init__(
        self,
        database: Database,
        *,
        hours: float = 8.0,
        idle: float = 1.0,
        hasher: PasswordHasher | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(database, hours=hours, idle=idle, clock=clock)
        self.passwords = Passwords(hasher or PasswordHasher())

    # Users

    def create(
        self,
        name: str,
        role: str,
        password: str | None = None,
        *,
        email: str | None = None,
        by: By | None = None,
    ) -> UserView:
        """A new account; without a password it can use keys only, until it is invited."""
        name = name.lower()
        if not NAME.fullmatch(name):
            raise AccountError(
                f"{name[:80]!r} cannot be a name: up to 64 letters a-z, digits and . _ @ - please."
            )
        user = User(
            name=name,
            role=_role(role),
            password_hash=None if password is None else self.passwords.hash(good(name, password)),
            active=True,
            created_at=moment(self.clock()),
            email=_email(email),
        )
        try:
            with self.database.write() as session:
                session.add(user)
                session.flush()
                said = f"{name}, {role}" + ("" if password is None else ", with a password")
                self.note(session, Event.CREATED, by or By.operator(), user.id, said)
                return _account(user)
        except IntegrityError:
            raise AccountError(f"there is an account {name!r} already.") from None

    def users(self) -> list[UserView]:
        with self.database.read() as session:
            return [_account(user) for user in session.scalars(select(User).order_by(User.name))]

    def user(self, user_id: int) -> UserView:
        with self.database.read() as session:
            return _account(user_row(session, user_id))

    def find(self, name: str) -> UserView:
        """The account of that name."""
        with self.database.read() as session:
            found = user_named(session, name)
            if found is None:
                raise AccountError(f"there is no account {name[:80]!r}.")
            return _account(found)

    def authenticate(self, name: str, password: str, address: str | None = None) -> Visitor | None:
        """Who has this password; a name that is not there takes as long as a wrong password."""
        with self.database.read() as session:
            user = user_named(session, name)
        kept = user.password_hash if user is not None else None
        right = self.passwords.verify(kept or self.passwords.nobodys, password)
        if user is None or kept is None or not right or not user.active:
            about = None if user is None else str(user.id)
            self.failures.note(Event.LOGIN_FAILED, about=about, address=address)
            return None
        if self.passwords.hasher.check_needs_rehash(kept):
            self._keep(user.id, self.passwords.hash(password), before=kept)
        guarded = user.second_factor is not None
        return Visitor(user.id, user.name, cast(RoleName, user.role), guarded=guarded)

    def change_password(self, user_id: int, password: str, by: By | None = None) -> None:
        """A new password; whoever is logged in with the old one no longer is. Keys stay."""
        self.local(user_id)
        hashed = self.passwords.hash(good(self.user(user_id).name, password))
        with self.database.write() as session:
            self.keep_password(session, user_id, hashed)
            self.note(session, Event.PASSWORD, by or By.operator(), user_id)

    def keep_password(self, session: Transaction, user_id: int, hashed: str) -> None:
        """Within a transaction that says in the trail who did it."""
        user_row(session, user_id).password_hash = hashed
        session.execute(delete(Session).where(Session.user_id == user_id))

    def local(self, user_id: int) -> UserView:
        """The account, if nobody else vouches for it."""
        found = self.user(user_id)
        if found.issuer is not None:
            raise AccountError(f"{found.name} has no password here: {found.issuer} vouches for it.")
        return found

    def set_email(self, user_id: int, email: str | None, by: By | None = None) -> None:
        """Where notices go; none without one. The trail does not repeat it."""
        kept = _email(email)
        with self.database.write() as session:
            user_row(session, user_id).email = kept
            said = "set" if kept else "removed"
            self.note(session, Event.EMAIL, by or By.operator(), user_id, said)

    def set_active(self, user_id: int, active: bool, by: By | None = None) -> None:
        """Close an account, with its sessions and keys, or open it again, without them."""
        with self.database.write() as session:
            user = user_row(session, user_id)
            if user.active == active:
                return
            if not active:
                _spare_the_last_custodian(session, user)
                cut_off(session, user_id, moment(self.clock()))
            user.active = active
            kind = Event.OPENED if active else Event.CLOSED
            self.note(session, kind, by or By.operator(), user_id)

    def set_role(self, user_id: int, role: str, by: By | None = None) -> None:
        """Another role; sessions and keys end, so that none can do more than it was made for."""
        wanted = _role(role)
        with self.database.write() as session:
            user = user_row(session, user_id)
            if user.issuer is not None:
                raise AccountError(f"{user.issuer} says the role of {user.name}; change it there.")
            if user.role != wanted:
                _spare_the_last_custodian(session, user)
                cut_off(session, user_id, moment(self.clock()))
                before, user.role = user.role, wanted
                said = f"from {before} to {wanted}"
                self.note(session, Event.ROLE, by or By.operator(), user_id, said)

    # Keys

    def make_key(self, user_id: int, name: str, by: By | None = None) -> str:
        """A new key, which nobody can read again: dk_<number>_<random>."""
        if not 0 < len(name) <= 100 or not name.isprintable():
            raise AccountError("name the key in up to 100 characters, by what it is for.")
        secret = secrets.token_urlsafe(32)
        with self.database.write() as session:
            if not user_row(session, user_id).active:
                raise AccountError("the account is closed.")
            made = ApiKey(
                user_id=user_id,
                name=name,
                key_hash=digest(secret),
                created_at=moment(self.clock()),
            )
            session.add(made)
            session.flush()
            key = f"dk_{made.id}_{secret}"
            made.key_hash = digest(key)
            said = f"key {made.id}: {name}"
            self.note(session, Event.KEY_MADE, by or By.operator(), user_id, said)
        return key

    def keys(self, user_id: int | None = None) -> list[KeyView]:
        """A user's keys, or everybody's."""
        wanted = select(ApiKey).order_by(ApiKey.id)
        if user_id is not None:
            wanted = wanted.where(ApiKey.user_id == user_id)
        with self.database.read() as session:
            return [KeyView.model_validate(key) for key in session.scalars(wanted)]

    def revoke_key(self, key_id: int, user_id: int | None = None, by: By | None = None) -> None:
        """End a key; with `user_id`, only if it is theirs."""
        with self.database.write() as session:
            key = session.get(ApiKey, key_id) if fits(key_id) else None
            if key is None or user_id not in (None, key.user_id):
                raise AccountError(f"there is no key {key_id}.")
            if key.revoked_at is None:
                key.revoked_at = moment(self.clock())
                said = f"key {key.id}: {key.name}"
                self.note(session, Event.KEY_REVOKED, by or By.operator(), key.user_id, said)

    def by_key(self, key: str) -> Visitor | None:
        """Whose key it is."""
        found = KEY.fullmatch(key)
        if found is None:
            return None
        with self.database.read() as session:
            kept = session.get(ApiKey, int(found[1]))
            user = kept and session.get(User, kept.user_id)
        if kept is None or not user or not hmac.compare_digest(kept.key_hash, digest(key)):
            return None
        now = self.clock()
        if kept.revoked_at is not None or not user.active or _unvouched(user, now):
            return None
        if kept.last_used_at is None or kept.last_used_at < moment(now - SELDOM):
            used = update(ApiKey).where(ApiKey.id == kept.id).values(last_used_at=moment(now))
            with self.database.write() as session:
                session.execute(used)
        role, guarded = cast(RoleName, user.role), user.second_factor is not None
        return Visitor(user.id, user.name, role, via="key", guarded=guarded)

    def wrong_key(self, key: str, address: str | None) -> None:
        """Somebody tried a key that opens nothing: one of an account's, or none."""
        found, about = KEY.fullmatch(key), None
        if found is not None:
            with self.database.read() as session:
                kept = session.get(ApiKey, int(found[1]))
            if kept is not None and hmac.compare_digest(kept.key_hash, digest(key)):
                about = kept
        self.failures.note(
            Event.KEY_FAILED,
            about=None if about is None else str(about.user_id),
            address=address,
            note=None if about is None else f"key {about.id}: {about.name}",
        )

    def _keep(self, user_id: int, hashed: str, *, before: str) -> None:
        with self.database.write() as session:
            session.execute(
                update(User)
                .where(User.id == user_id, User.password_hash == before)
                .values(password_hash=hashed)
            )


def _role(role: str) -> str:
    known = [str(one) for one in Role]
    if role not in known:
        raise AccountError(f"there is no role {role[:80]!r}; there are {', '.join(known)}.")
    return role


def _email(email: str | None) -> str | None:
    email = (email or "").strip()
    if email and (len(email) > 254 or not EMAIL.fullmatch(email)):
        raise AccountError(f"{email[:80]!r} is no e-mail address; write name@example.org.")
    return email or None


def _unvouched(user: User, now: datetime) -> bool:
    """Who is gone elsewhere does not log in here again, and their keys must end all the same."""
    return user.issuer is not None and (user.vouched_at or "") < moment(now - VOUCHED)


def _spare_the_last_custodian(session: Transaction, user: User) -> None:
    """Somebody must be able to undo it. The rows stay locked until the end."""
    if user.role != Role.CUSTODIAN or not user.active:
        return
    left: Iterable[int] = session.scalars(
        select(User.id)
        .where(User.role == Role.CUSTODIAN, User.active)
        .order_by(User.id)
        .with_for_update()
    )
    if set(left) <= {user.id}:
        raise AccountError(f"{user.name} is the last custodian; make another one first.")


def _account(user: User) -> UserView:
    """Of what is secret only whether it is there."""
    return UserView(
        id=user.id,
        name=user.name,
        role=cast(RoleOfAccount, user.role),
        active=user.active,
        created_at=user.created_at,
        email=user.email,
        password=user.password_hash is not None,
        second_factor=user.second_factor is not None,
        issuer=user.issuer,
    )
