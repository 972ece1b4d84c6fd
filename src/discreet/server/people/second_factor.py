"""A second factor: one-time passwords from an app (RFC 6238), and recovery codes.

The secret is kept encrypted, with a key that is made from the server's secret; each code counts
once, and after some wrong ones in a row the account takes none for a while, longer each time.
"""

from __future__ import annotations

import hmac
import secrets
from base64 import b32encode
from datetime import datetime, timedelta
from math import ceil

import pyotp
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session as Transaction

from discreet.server.ledger.schema import Session, Token, User
from discreet.server.ledger.trail import Event
from discreet.server.people.accounts import Accounts
from discreet.server.people.actors import By
from discreet.server.people.register import AccountError, digest, moment, user_row
from discreet.server.people.sealed import Seal

KIND = "recovery"
CODES = 10  # for recovery
WINDOW = (0, -1, 1)  # steps of 30 seconds that a clock may be off
FREE = 5  # wrong codes in a row before the first pause
LONGEST = timedelta(hours=1)  # pause


class Paused(AccountError):
    """Too many wrong codes; no code is looked at for some seconds."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many wrong codes for this account; wait {seconds} s.")
        self.seconds = seconds


class SecondFactors:
    """Sets up, checks and removes the second factor of accounts."""

    def __init__(self, accounts: Accounts, secret: str) -> None:
        self.accounts, self.database, self.seal = accounts, accounts.database, Seal(secret)

    def offer(self, user_id: int, session_token: str) -> None:
        """Begin to set one up: a new secret, for this session only."""
        sealed = self.seal.close(pyotp.random_base32(), _of(user_id))
        with self.database.write() as session:
            self._session(session, session_token).offer = sealed

    def offered(self, user_id: int, session_token: str) -> str | None:
        """The secret that is to be confirmed."""
        with self.database.read() as session:
            kept = self._session(session, session_token).offer
        return None if kept is None else self._open(user_id, kept)

    def confirm(self, user_id: int, session_token: str, code: str, by: By) -> list[str]:
        """The offer becomes the second factor, and other sessions end; gives recovery codes."""
        with self.database.write() as session:
            user = user_row(session, user_id, hold=True)
            own = self._session(session, session_token)
            if user.second_factor is not None:
                raise AccountError("the account has a second factor; remove it first.")
            if own.offer is None:
                raise AccountError("there is nothing to confirm; begin again.")
            step = self._step(self._open(user_id, own.offer), code)
            if step is None:
                raise AccountError(
                    "the code is wrong; check the clock of the device and try the next code."
                )
            user.second_factor, own.offer = own.offer, None
            user.last_step, user.wrong_codes, user.codes_from = step, 0, None
            own.passed_at = moment(self.accounts.clock())
            session.execute(delete(Session).where(Session.user_id == user_id, Session.id != own.id))
            codes = self._new_codes(session, user_id)
            self.accounts.note(session, Event.FACTOR_SET, by, user_id)
        return codes

    def check(self, user_id: int, code: str, by: By) -> bool:
        """Is it the code of now, or a recovery code? Either counts once."""
        now = self.accounts.clock()
        with self.database.write() as session:
            user = user_row(session, user_id, hold=True)
            if user.codes_from is not None and moment(now) < user.codes_from:
                raise Paused(_seconds(user.codes_from, now))
            right = self._right(session, user, code, by)
            if right:
                user.wrong_codes, user.codes_from = 0, None
            else:
                user.wrong_codes = (user.wrong_codes or 0) + 1
                user.codes_from = None
                if user.wrong_codes >= FREE:
                    pause = timedelta(minutes=2 ** min(user.wrong_codes - FREE, 6))
                    user.codes_from = moment(now + min(pause, LONGEST))
        if not right:
            self.accounts.failures.note(
                Event.CODE_FAILED, actor=str(user_id), about=str(user_id), address=by.address
            )
        return right

    def new_codes(self, user_id: int, by: By) -> list[str]:
        """Other recovery codes; the old ones no longer count."""
        with self.database.write() as session:
            user = user_row(session, user_id, hold=True)
            if user.second_factor is None:
                raise AccountError("the account has no second factor.")
            codes = self._new_codes(session, user_id)
            self.accounts.note(session, Event.RECOVERY_CODES, by, user_id)
        return codes

    def codes_left(self, user_id: int) -> int:
        found = select(func.count()).where(Token.kind == KIND, Token.user_id == user_id)
        with self.database.read() as session:
            return session.scalar(found) or 0

    def address(self, name: str, secret: str, title: str) -> str:
        """What the picture says: otpauth://..."""
        return pyotp.TOTP(secret).provisioning_uri(name=name, issuer_name=title)

    # Codes

    def _right(self, session: Transaction, user: User, code: str, by: By) -> bool:
        if user.second_factor is None:
            return False
        step = self._step(self._open(user.id, user.second_factor), code)
        if step is not None:
            fresh = user.last_step is None or step > user.last_step
            if fresh:
                user.last_step = step
            return fresh
        recovery = digest(f"{user.id} {_bare(code)}")
        used = delete(Token).where(Token.id == recovery, Token.kind == KIND).returning(Token.id)
        if session.scalar(used) is None:
            return False
        self.accounts.note(session, Event.RECOVERY_USED, by, user.id)
        return True

    def _step(self, secret: str, code: str) -> int | None:
        """Of which step of time it is the code."""
        totp, sent = pyotp.TOTP(secret), _bare(code).encode("utf-8", "replace")
        now = totp.timecode(self.accounts.clock())
        found = None
        for step in (now + off for off in WINDOW):
            if hmac.compare_digest(totp.generate_otp(step).encode(), sent):
                found = step
        return found

    def _new_codes(self, session: Transaction, user_id: int) -> list[str]:
        now = moment(self.accounts.clock())
        codes = [b32encode(secrets.token_bytes(10)).decode().lower() for _ in range(CODES)]
        session.execute(delete(Token).where(Token.kind == KIND, Token.user_id == user_id))
        session.add_all(
            Token(id=digest(f"{user_id} {code}"), kind=KIND, user_id=user_id, created_at=now)
            for code in codes
        )
        return ["-".join(code[at : at + 4] for at in range(0, 16, 4)) for code in codes]

    def _session(self, session: Transaction, token: str) -> Session:
        found = session.get(Session, digest(token))
        if found is None:
            raise AccountError("the session is over; log in again.")
        return found

    # The secret

    def _open(self, user_id: int, kept: str) -> str:
        return self.seal.open(kept, _of(user_id))


def remove_factor(accounts: Accounts, user_id: int, by: By) -> None:
    """An account without its second factor and recovery codes; sessions end."""
    with accounts.database.write() as session:
        user = user_row(session, user_id, hold=True)
        if user.second_factor is None:
            raise AccountError(f"{user.name} has no second factor.")
        user.second_factor = user.last_step = user.wrong_codes = user.codes_from = None
        session.execute(delete(Token).where(Token.kind == KIND, Token.user_id == user_id))
        session.execute(delete(Session).where(Session.user_id == user_id))
        accounts.note(session, Event.FACTOR_REMOVED, by, user_id)


def _of(user_id: int) -> str:
    return f"second factor of account {user_id}"


def _bare(code: str) -> str:
    """Without what people put in between."""
    return code.replace(" ", "").replace("-", "").lower()


def _seconds(until: str, now: datetime) -> int:
    return max(1, ceil((datetime.fromisoformat(until) - now).total_seconds()))
