"""Who does something with accounts: the operator of the machine, or a visitor from an address."""

from __future__ import annotations

import getpass
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.server.ledger.database import Database
from discreet.server.ledger.trail import Event, append
from discreet.server.operation.logs import log
from discreet.server.people.identity import Visitor
from discreet.server.people.register import moment

PUBLIC = "public"
EACH, ALL = 10, 60  # failures in a minute that are written: of one, of the public together
Whose = tuple[str, str | None]  # an account, or the public from an address
Missed = tuple[datetime, Whose, int]  # in which minute, whose, how many


def operator() -> str:
    """Who runs the process: DISCREET_OPERATOR, else who became its user by sudo, else its user."""
    for name in ("DISCREET_OPERATOR", "SUDO_USER"):
        if said := "".join(c for c in os.environ.get(name, "") if c.isprintable()).strip():
            return said[:100]
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a number without a name
        return f"user {os.getuid()}"


@dataclass(frozen=True)
class By:
    """Who does something, and from where."""

    actor: str
    address: str | None = None

    @classmethod
    def operator(cls) -> By:
        """Whoever runs the process, and with it has every right."""
        return cls(f"operator {operator()}")


def by(request: Request, who: Visitor) -> By:
    return By(who.actor, address_of(request))


def address_of(request: Request) -> str | None:
    """Where a request comes from, as far as the proxies are believed."""
    found: str | None = request.app.state.limits.proxies.address(request.scope)
    return found


class Failures:
    """Writes what failed, but no flood of it: the rest of a minute is counted in one entry.

    In the memory of one process: n workers write up to n times as many.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self.database, self.clock = database, clock
        self._lock = Lock()
        self._minute = datetime.min.replace(tzinfo=UTC)
        self._written: Counter[Whose] = Counter()
        self._left_out: Counter[Whose] = Counter()

    def note(
        self,
        kind: Event,
        *,
        actor: str = PUBLIC,
        about: str | None = None,
        address: str | None = None,
        note: str | None = None,
    ) -> None:
        """One more; what cannot be written is in the log, and the answer goes out all the same."""
        now, whose = self.clock(), (actor, address if actor == PUBLIC else None)
        with self._lock:
            over = self._over(now)
            few = self._few(whose)
            if few:
                self._written[whose] += 1
            else:
                self._left_out[whose if whose in self._written else (PUBLIC, None)] += 1
        try:
            if over or few:
                with self.database.write() as session:
                    _summarise(session, over, now)
                    if few:
                        append(
                            session, kind, actor=actor, about=about, address=address, note=note,
                            at=moment(now),
                        )  # fmt: skip
        except SQLAlchemyError as error:
            log().warning("trail not written", kind=kind.value, reason=type(error).__name__)

    def flush(self, *, end: bool = False) -> None:
        """Write how many were left out, if their minute is over; at the `end` in any case."""
        with self._lock:
            now = self.clock()
            over = self._over(now + timedelta(minutes=1 if end else 0))
        if over:
            try:
                with self.database.write() as session:
                    _summarise(session, over, now)
            except SQLAlchemyError as error:
                log().warning("trail not written", reason=type(error).__name__)

    def _few(self, whose: Whose) -> bool:
        """Nobody hides what an account does behind a flood from elsewhere."""
        if self._written[whose] >= EACH:
            return False
        public = sum(n for (actor, _), n in self._written.items() if actor == PUBLIC)
        return whose[0] != PUBLIC or public < ALL

    def _over(self, now: datetime) -> list[Missed]:
        minute = now.replace(second=0, microsecond=0)
        if minute == self._minute:
            return []
        over = [(self._minute, whose, n) for whose, n in self._left_out.items()]
        self._minute = minute
        self._written.clear()
        self._left_out.clear()
        return over


class Refusals:
    """A middleware: what was refused to an account is in the trail before it is told."""

    def __init__(self, app: ASGIApp, failures: Failures) -> None:
        self.app, self.failures = app, failures

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 403:
                await run_in_threadpool(self._note, Request(scope))
            await send(message)

        await self.app(scope, receive, noted)

    def _note(self, request: Request) -> None:
        who: Visitor | None = getattr(request.state, "visitor", None)
        if who is None or who.user_id is None or getattr(request.state, "noted", False):
            return
        route = getattr(request.scope.get("route"), "path", "")
        self.failures.note(
            Event.REFUSED,
            actor=who.actor,
            address=address_of(request),
            note=f"{request.method} {route}".strip(),
        )


def _summarise(session: Session, over: list[Missed], now: datetime) -> None:
    for minute, (actor, address), missed in over:
        append(
            session,
            Event.LEFT_OUT,
            actor="server",
            about=None if actor == PUBLIC else actor,
            address=address,
            note=f"{missed} more failures in the minute from {minute:%Y-%m-%d %H:%M}",
            at=moment(now),
        )
