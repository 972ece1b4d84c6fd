"""Logins: sessions, of which only a hash is kept, and whether the second factor was given."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import cast

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session as Transaction

from discreet.server.ledger.database import Database
from discreet.server.ledger.schema import Session, User
from discreet.server.ledger.trail import Event, append
from discreet.server.people.actors import By, Failures
from discreet.server.people.identity import RoleName, Visitor
from discreet.server.people.register import AccountError, digest, moment, user_row

HALF = timedelta(minutes=10)  # from the password to the second factor


class Sessions:
    """A session ends `hours` after login, or `idle` hours after its last use."""

    def __init__(
        self,
        database: Database,
        *,
        hours: float = 8.0,
        idle: float = 1.0,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.database, self.clock = database, clock
        self.hours, self.idle = timedelta(hours=hours), timedelta(hours=idle)
        self.failures = Failures(database, clock)

    def start_session(
        self,
        user_id: int,
        old: str | None = None,
        *,
        passed: bool = False,
        address: str | None = None,
        how: str | None = None,
        again: bool = False,
    ) -> tuple[str, str]:
        """A login: what the cookie holds, and what forms must send. The `old` session ends.

        It is half open, and no login yet, if the second factor must still be `passed`; `again`:
        it goes on from another session. `how` is for the trail.
        """
        token, csrf, now = secrets.token_urlsafe(32), secrets.token_urlsafe(32), self.clock()
        over = [Session.expires_at <= moment(now)]
        if old is not None:
            over.append(Session.id == digest(old))
        with self.database.write() as session:
            user = user_row(session, user_id)
            if not user.active:
                raise AccountError("the account is closed.")
            half = user.second_factor is not None and not passed
            for condition in over:
                session.execute(delete(Session).where(condition))
            session.add(
                Session(
                    id=digest(token),
                    user_id=user_id,
                    created_at=moment(now),
                    expires_at=moment(now + (HALF if half else min(self.hours, self.idle))),
                    csrf=csrf,
                    passed_at=moment(now) if passed else None,
                )
            )
            if not half and not again:
                self.note(session, Event.LOGIN, By(str(user_id), address), user_id, how)
        return token, csrf

    def by_session(self, token: str) -> Visitor | None:
        """Who is logged in by it; who is `guarded` has not `passed` the second factor, or has."""
        wanted = (
            select(Session, User)
            .join(User, User.id == Session.user_id)
            .where(Session.id == digest(token))
        )
        with self.database.read() as session:
            row = session.execute(wanted).one_or_none()
        if row is None:
            return None
        kept, user = row
        now = self.clock()
        if kept.expires_at <= moment(now) or not user.active:
            return None
        guarded, passed = user.second_factor is not None, kept.passed_at is not None
        if passed or not guarded:
            self._extend(kept, now)
        return Visitor(
            user.id,
            user.name,
            cast(RoleName, user.role),
            kept.csrf,
            "session",
            guarded=guarded,
            passed=passed,
        )

    def end_session(self, token: str, address: str | None = None) -> None:
        ended = delete(Session).where(Session.id == digest(token)).returning(Session.user_id)
        with self.database.write() as session:
            user_id = session.scalar(ended)
            if user_id is not None:
                self.note(session, Event.LOGOUT, By(str(user_id), address), user_id)

    def note(
        self, session: Transaction, kind: Event, by: By, about: int, note: str | None = None
    ) -> int:
        """The number of an entry in the trail, of the same transaction."""
        written = append(
            session,
            kind,
            actor=by.actor,
            about=str(about),
            address=by.address,
            note=note,
            at=moment(self.clock()),
        )
        return written.number

    def _extend(self, kept: Session, now: datetime) -> None:
        """Seldom, because it is a write."""
        end = min(datetime.fromisoformat(kept.created_at) + self.hours, now + self.idle)
        if end - datetime.fromisoformat(kept.expires_at) > self.idle / 10:
            longer = update(Session).where(Session.id == kept.id).values(expires_at=moment(end))
            with self.database.write() as session:
                session.execute(longer)
