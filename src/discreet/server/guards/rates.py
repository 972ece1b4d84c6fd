"""How much each client did in the last minute: by this process, or by all of them together.

Shared by a database, decisions and logins are counted there one by one. Requests of any kind are
too many for that: each worker counts its own, and learns every second what the others counted.
"""

from __future__ import annotations

import hmac
import time
from collections import Counter, deque
from collections.abc import Callable
from threading import Lock
from typing import Literal, Protocol
from uuid import uuid4

from limits import RateLimitItemPerMinute
from limits.errors import ConfigurationError, StorageError
from limits.storage import Storage, storage_from_string
from limits.strategies import MovingWindowRateLimiter
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from discreet.errors import DataError
from discreet.server.ledger import tallies
from discreet.server.ledger.database import Database
from discreet.server.ledger.schema import Rate
from discreet.server.operation.logs import log

What = Literal["requests", "decisions", "logins"]
EVERY: frozenset[What] = frozenset({"requests", "decisions", "logins"})
MINUTE, SLOT = 60, 10  # seconds
SLOTS = MINUTE // SLOT
Clock = Callable[[], float]


class Rates(Protocol):
    """`quick` is what does not wait for another process."""

    quick: frozenset[What]

    def hit(self, what: What, client: str, most: int) -> float:
        """One more: 0, or else not, and how many seconds until it may be."""

    def exchange(self, least: int) -> None:
        """Tell the others, and learn from them about clients with at least so many requests."""


class OwnRates:
    """Of this process: the times of each client's last minute."""

    quick = EVERY

    def __init__(self, clock: Clock = time.time) -> None:
        self.clock = clock
        self._lock = Lock()
        self._times: dict[tuple[What, str], deque[float]] = {}
        self._swept = clock()

    def __len__(self) -> int:
        return len(self._times)

    def hit(self, what: What, client: str, most: int, others: int = 0) -> float:
        now = self.clock()
        with self._lock:
            self._sweep(now)
            times = self._times.setdefault((what, client), deque())
            while times and times[0] <= now - MINUTE:
                times.popleft()
            if len(times) + others < most:
                times.append(now)
                return 0.0
            return times[0] + MINUTE - now if times else float(SLOT)

    def exchange(self, least: int) -> None:
        """There are no others."""

    def _sweep(self, now: float) -> None:
        """Quiet clients are forgotten; and all, if the clock was set back."""
        if 0 <= now - self._swept < MINUTE:
            return
        times = self._times.items()
        self._times = {k: t for k, t in times if t and now - MINUTE < t[-1] <= now}
        self._swept = now


class DatabaseRates:
    """Of all workers, in the database; clients stand there as keyed hashes."""

    quick: frozenset[What] = frozenset({"requests"})

    def __init__(self, database: Database, secret: bytes, clock: Clock = time.time) -> None:
        self.database, self.secret, self.clock = database, secret, clock
        self.worker = uuid4().hex
        self._own = OwnRates(clock)
        self._lock = Lock()
        self._unsent: Counter[tuple[str, int]] = Counter()
        self._others: dict[str, int] = {}

    def hit(self, what: What, client: str, most: int) -> float:
        name, slot = _hashed(self.secret, client), int(self.clock()) // SLOT
        if what not in self.quick:
            return self._hit(what, name, slot, most)
        wait = self._own.hit(what, name, most, self._others.get(name, 0))
        if not wait:
            with self._lock:
                self._unsent[name, slot] += 1
        return wait

    def _hit(self, what: What, name: str, slot: int, most: int) -> float:
        """Counted before it is looked at, so that of many at once no more than `most` pass."""
        recent = (Rate.client == name, Rate.what == what, Rate.slot > slot - SLOTS)
        try:
            with self.database.write() as session:
                self._add(session, name, what, slot, "", 1)
                first, n = session.execute(
                    select(func.min(Rate.slot), func.sum(Rate.n)).where(*recent)
                ).one()
                if n > most:
                    raise _Refused(first)
        except _Refused as refused:  # does not count
            return max(1.0, (refused.first + SLOTS) * SLOT - self.clock())
        return 0.0

    def exchange(self, least: int) -> None:
        with self._lock:
            unsent, self._unsent = self._unsent, Counter()
        now = int(self.clock()) // SLOT
        with self.database.write() as session:
            for (name, slot), n in sorted(unsent.items()):
                self._add(session, name, "requests", slot, self.worker, n)
            session.execute(delete(Rate).where(Rate.slot <= now - 2 * SLOTS))
            self._others = self._heard(session, now, least)

    def _add(self, session: Session, name: str, what: What, slot: int, worker: str, n: int) -> None:
        tallies.add(session, Rate, "n", n, client=name, what=what, slot=slot, worker=worker)

    def _heard(self, session: Session, now: int, least: int) -> dict[str, int]:
        found = session.execute(
            select(Rate.client, func.sum(Rate.n))
            .where(Rate.what == "requests", Rate.slot > now - SLOTS, Rate.worker != self.worker)
            .group_by(Rate.client)
            .having(func.sum(Rate.n) >= least)
        )
        return {name: int(n) for name, n in found}


class RedisRates:
    """Of all workers, in Redis; while it does not answer, each worker counts by itself."""

    quick: frozenset[What] = frozenset()

    def __init__(self, url: str, secret: bytes) -> None:
        self.secret, self._own = secret, OwnRates()
        try:
            storage = storage_from_string(url, wrap_exceptions=True)
        except ConfigurationError as error:
            raise DataError(f"DISCREET_SHARED: {error}.") from None
        assert isinstance(storage, Storage)
        self._window = MovingWindowRateLimiter(storage)

    def hit(self, what: What, client: str, most: int) -> float:
        name, item = _hashed(self.secret, client), RateLimitItemPerMinute(most)
        try:
            if self._window.hit(item, what, name):
                return 0.0
            stats = self._window.get_window_stats(item, what, name)
        except StorageError as error:
            log().warning("Redis does not answer", reason=type(error.storage_error).__name__)
            return self._own.hit(what, name, most)
        return max(1.0, stats.reset_time - time.time())

    def exchange(self, least: int) -> None:
        """Every hit does."""


class _Refused(Exception):
    def __init__(self, first: int) -> None:
        self.first = first


def rates_of(shared: str, database: Database | None, secret: bytes) -> Rates:
    """As DISCREET_SHARED says: "" for this process alone, "database", or redis://HOST."""
    if shared == "" or database is None:
        return OwnRates()
    if shared == "database":
        return DatabaseRates(database, secret)
    if shared.startswith(("redis://", "rediss://", "redis+unix://")):
        return RedisRates(shared, secret)
    raise DataError(
        f"DISCREET_SHARED = {shared.partition(':')[0]!r} is not known; write database or "
        "redis://HOST, or leave it out."
    )


def _hashed(secret: bytes, client: str) -> str:
    return hmac.digest(secret or b"-", client.encode("utf-8", "replace"), "sha256").hex()[:32]
