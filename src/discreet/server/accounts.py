"""Accounts: passwords, keys and sessions. Of each only a hash is kept."""

from __future__ import annotations

import hmac
import re
import secrets
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from threading import BoundedSemaphore
from typing import cast
from unicodedata import normalize

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from argon2.low_level import ARGON2_VERSION
from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as Transaction

from discreet.errors import DisclosureError
from discreet.server.identity import RoleName, Visitor
from discreet.server.ledger.database import Database
from discreet.server.ledger.schema import ApiKey, Role, Session, User

NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}")
KEY = re.compile(r"dk_([1-9][0-9]{0,8})_[A-Za-z0-9_-]{43}")
SHORTEST, LONGEST = 12, 1000  # characters of a password
DIFFERENT = 5
AT_ONCE = 4  # passwords that are hashed: each takes 64 MB
SELDOM = timedelta(hours=1)  # how often the use of a key is noted


class AccountError(DisclosureError):
    """A name, role or password that cannot be, or the last custodian."""


@dataclass(frozen=True)
class Account:
    id: int
    name: str
    role: RoleName
    active: bool
    created_at: str


@dataclass(frozen=True)
class Key:
    id: int
    user_id: int
    name: str
    created_at: str
    revoked_at: str | None
    last_used_at: str | None


class Accounts:
    """Users, their keys and sessions.

    A session ends `hours` after login, or `idle` hours after its last use.
    """

    def __init__(
        self,
        database: Database,
        *,
        hours: float = 8.0,
        idle: float = 1.0,
        hasher: PasswordHasher | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.database, self.clock = database, clock
        self.hours, self.idle = timedelta(hours=hours), timedelta(hours=idle)
        self._hasher = hasher or PasswordHasher()
        self._turn = BoundedSemaphore(AT_ONCE)
        self._nobodys = _nobodys(self._hasher)

    # Users

    def create(self, name: str, role: str, password: str | None = None) -> Account:
        """A new account; without a password it can use keys only."""
        name = name.lower()
        if not NAME.fullmatch(name):
            raise AccountError(
                f"{name[:80]!r} cannot be a name: up to 64 letters a-z, digits and . _ @ - please."
            )
        user = User(
            name=name,
            role=_role(role),
            password_hash=None if password is None else self._hash(_good(name, password)),
            active=True,
            created_at=_text(self.clock()),
        )
        try:
            with self.database.write() as session:
                session.add(user)
                session.flush()
                return _account(user)
        except IntegrityError:
            raise AccountError(f"there is an account {name!r} already.") from None

    def users(self) -> list[Account]:
        with self.database.read() as session:
            return [_account(user) for user in session.scalars(select(User).order_by(User.name))]

    def user(self, user_id: int) -> Account:
        with self.database.read() as session:
            return _account(_user(session, user_id))

    def find(self, name: str) -> Account:
        """The account of that name."""
        with self.database.read() as session:
            found = _named(session, name)
            if found is None:
                raise AccountError(f"there is no account {name[:80]!r}.")
            return _account(found)

    def authenticate(self, name: str, password: str) -> Visitor | None:
        """Who has this password; a name that is not there takes as long as a wrong password."""
        with self.database.read() as session:
            user = _named(session, name)
        kept = user.password_hash if user is not None else None
        right = self._verify(kept or self._nobodys, password)
        if user is None or kept is None or not right or not user.active:
            return None
        if self._hasher.check_needs_rehash(kept):
            self._keep(user.id, self._hash(password), before=kept)
        return Visitor(user.id, user.name, cast(RoleName, user.role))

    def change_password(self, user_id: int, password: str) -> None:
        """A new password; whoever is logged in with the old one no longer is. Keys stay."""
        hashed = self._hash(_good(self.user(user_id).name, password))
        with self.database.write() as session:
            _user(session, user_id).password_hash = hashed
            session.execute(delete(Session).where(Session.user_id == user_id))

    def set_active(self, user_id: int, active: bool) -> None:
        """Close an account, with its sessions and keys, or open it again, without them."""
        with self.database.write() as session:
            user = _user(session, user_id)
            if not active:
                _spare_the_last_custodian(session, user)
                self._cut_off(session, user_id)
            user.active = active

    def set_role(self, user_id: int, role: str) -> None:
        """Another role; sessions and keys end, so that none can do more than it was made for."""
        wanted = _role(role)
        with self.database.write() as session:
            user = _user(session, user_id)
            if user.role != wanted:
                _spare_the_last_custodian(session, user)
                self._cut_off(session, user_id)
                user.role = wanted

    # Keys

    def make_key(self, user_id: int, name: str) -> str:
        """A new key, which nobody can read again: dk_<number>_<random>."""
        if not 0 < len(name) <= 100 or not name.isprintable():
            raise AccountError("name the key in up to 100 characters, by what it is for.")
        secret = secrets.token_urlsafe(32)
        with self.database.write() as session:
            if not _user(session, user_id).active:
                raise AccountError("the account is closed.")
            made = ApiKey(
                user_id=user_id,
                name=name,
                key_hash=_digest(secret),
                created_at=_text(self.clock()),
            )
            session.add(made)
            session.flush()
            key = f"dk_{made.id}_{secret}"
            made.key_hash = _digest(key)
        return key

    def keys(self, user_id: int | None = None) -> list[Key]:
        """A user's keys, or everybody's."""
        wanted = select(ApiKey).order_by(ApiKey.id)
        if user_id is not None:
            wanted = wanted.where(ApiKey.user_id == user_id)
        with self.database.read() as session:
            return [_key(key) for key in session.scalars(wanted)]

    def revoke_key(self, key_id: int, user_id: int | None = None) -> None:
        """End a key; with `user_id`, only if it is theirs."""
        with self.database.write() as session:
            key = session.get(ApiKey, key_id) if _fits(key_id) else None
            if key is None or user_id not in (None, key.user_id):
                raise AccountError(f"there is no key {key_id}.")
            key.revoked_at = key.revoked_at or _text(self.clock())

    def by_key(self, key: str) -> Visitor | None:
        """Whose key it is."""
        found = KEY.fullmatch(key)
        if found is None:
            return None
        with self.database.read() as session:
            kept = session.get(ApiKey, int(found[1]))
            user = kept and session.get(User, kept.user_id)
        if kept is None or not user or not hmac.compare_digest(kept.key_hash, _digest(key)):
            return None
        if kept.revoked_at is not None or not user.active:
            return None
        now = self.clock()
        if kept.last_used_at is None or kept.last_used_at < _text(now - SELDOM):
            used = update(ApiKey).where(ApiKey.id == kept.id).values(last_used_at=_text(now))
            with self.database.write() as session:
                session.execute(used)
        return Visitor(user.id, user.name, cast(RoleName, user.role), via="key")

    # Sessions

    def start_session(self, user_id: int, old: str | None = None) -> tuple[str, str]:
        """A login: what the cookie holds, and what forms must send. The `old` session ends."""
        token, csrf, now = secrets.token_urlsafe(32), secrets.token_urlsafe(32), self.clock()
        over = [Session.expires_at <= _text(now)]
        if old is not None:
            over.append(Session.id == _digest(old))
        with self.database.write() as session:
            if not _user(session, user_id).active:
                raise AccountError("the account is closed.")
            for condition in over:
                session.execute(delete(Session).where(condition))
            session.add(
                Session(
                    id=_digest(token),
                    user_id=user_id,
                    created_at=_text(now),
                    expires_at=_text(now + min(self.hours, self.idle)),
                    csrf=csrf,
                )
            )
        return token, csrf

    def by_session(self, token: str) -> Visitor | None:
        """Who is logged in by it."""
        wanted = (
            select(Session, User)
            .join(User, User.id == Session.user_id)
            .where(Session.id == _digest(token))
        )
        with self.database.read() as session:
            row = session.execute(wanted).one_or_none()
        if row is None:
            return None
        kept, user = row
        now = self.clock()
        if kept.expires_at <= _text(now) or not user.active:
            return None
        self._extend(kept, now)
        return Visitor(user.id, user.name, cast(RoleName, user.role), kept.csrf, "session")

    def end_session(self, token: str) -> None:
        with self.database.write() as session:
            session.execute(delete(Session).where(Session.id == _digest(token)))

    def _extend(self, kept: Session, now: datetime) -> None:
        """Seldom, because it is a write."""
        end = min(datetime.fromisoformat(kept.created_at) + self.hours, now + self.idle)
        if end - datetime.fromisoformat(kept.expires_at) > self.idle / 10:
            longer = update(Session).where(Session.id == kept.id).values(expires_at=_text(end))
            with self.database.write() as session:
                session.execute(longer)

    def _cut_off(self, session: Transaction, user_id: int) -> None:
        session.execute(delete(Session).where(Session.user_id == user_id))
        session.execute(
            update(ApiKey)
            .where(ApiKey.user_id == user_id, ApiKey.revoked_at.is_(None))
            .values(revoked_at=_text(self.clock()))
        )

    # Passwords

    def _hash(self, password: str) -> str:
        with self._turn:
            return self._hasher.hash(_bytes(normalize("NFC", password)))

    def _verify(self, kept: str, password: str) -> bool:
        tried = _bytes(normalize("NFC", password[:LONGEST]))
        try:
            with self._turn:
                return self._hasher.verify(kept, tried) and len(password) <= LONGEST
        except (VerificationError, InvalidHashError):
            return False

    def _keep(self, user_id: int, hashed: str, *, before: str) -> None:
        with self.database.write() as session:
            session.execute(
                update(User)
                .where(User.id == user_id, User.password_hash == before)
                .values(password_hash=hashed)
            )


def _nobodys(hasher: PasswordHasher) -> str:
    """A hash that takes as long to verify as one of `hasher`, and that no password has."""
    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    salt, end = (
        b64encode(secrets.token_bytes(n)).decode().rstrip("=")
        for n in (hasher.salt_len, hasher.hash_len)
    )
    return f"$argon2id$v={ARGON2_VERSION}${cost}${salt}${end}"


def _good(name: str, password: str) -> str:
    """The password, if it is hard enough to guess."""
    without = password.casefold().replace(name.casefold(), "")
    if len(without) < SHORTEST:
        raise AccountError(
            f"the password is too short: {SHORTEST} characters at least, without the name."
        )
    if len(password) > LONGEST:
        raise AccountError(f"the password is too long: {LONGEST} characters at most.")
    if len(set(without)) < DIFFERENT:
        raise AccountError(f"the password needs {DIFFERENT} different characters at least.")
    return password


def _role(role: str) -> str:
    known = [str(one) for one in Role]
    if role not in known:
        raise AccountError(f"there is no role {role[:80]!r}; there are {', '.join(known)}.")
    return role


def _user(session: Transaction, user_id: int) -> User:
    found = session.get(User, user_id) if _fits(user_id) else None
    if found is None:
        raise AccountError(f"there is no account {user_id}.")
    return found


def _fits(number: int) -> bool:
    """Databases know numbers up to this."""
    return 0 < number < 2**31


def _named(session: Transaction, name: str) -> User | None:
    name = name.lower()
    found = select(User).where(User.name == name)
    return session.scalar(found) if NAME.fullmatch(name) else None


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


def _account(user: User) -> Account:
    return Account(user.id, user.name, cast(RoleName, user.role), user.active, user.created_at)


def _key(key: ApiKey) -> Key:
    return Key(key.id, key.user_id, key.name, key.created_at, key.revoked_at, key.last_used_at)


def _digest(secret: str) -> str:
    """Enough for what is random; passwords are hashed slowly."""
    return sha256(_bytes(secret)).hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
