"""What Prometheus reads of all workers together: each keeps its counts in the database.

What a worker counted stays when it ends, so that no counter falls.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from threading import Lock
from uuid import uuid4

from prometheus_client import CollectorRegistry, Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from discreet.server.guards.rates import Clock
from discreet.server.ledger import tallies
from discreet.server.ledger.database import Database
from discreet.server.ledger.schema import Meter, canonical

ALIVE = ("", "")  # where a worker says when it last wrote
QUIET = 15.0  # seconds after which a worker is taken for dead
DAY = 86_400.0
PAST = "past"  # the worker of all that ended long ago
SUFFIXES = ("", "_total", "_bucket", "_count", "_sum")
Key = tuple[str, str]  # name, labels


class Meters(Collector):
    """A registry's counters, histograms and gauges, summed over workers.

    Gauges are of those who live; the rest is of all who ever did.
    """

    def __init__(
        self, database: Database, registry: CollectorRegistry, clock: Clock = time.time
    ) -> None:
        self.database, self.registry, self.clock = database, registry, clock
        self.worker = uuid4().hex
        self._lock = Lock()
        self._written: dict[Key, float] = {}
        self._folded = False

    def write(self) -> None:
        """What this worker counted since."""
        with self._lock:
            now = {key: value for _, samples in self._own() for key, value in samples.items()}
            changed = {key: value for key, value in now.items() if self._written.get(key) != value}
            with self.database.write() as session:
                for (name, labels), value in sorted((changed | {ALIVE: self.clock()}).items()):
                    row = {"worker": self.worker, "name": name, "labels": labels}
                    tallies.keep(session, Meter, "value", value, **row)
            self._written = now
            if not self._folded:
                self.database.transact(None, self._fold)
                self._folded = True

    def collect(self) -> Iterator[Metric]:
        """As of now."""
        self.write()
        with self.database.read() as session:
            every, living = _sums(session), _sums(session, self._living(session))
        for family, own in self._own():
            found = living if family.type == "gauge" else every
            named = [key for key in sorted(found) if _is_of(family, key[0]) and key not in own]
            family.samples = [_sample(key, found.get(key, 0.0)) for key in [*own, *named]]
            yield family

    def _own(self) -> Iterator[tuple[Metric, dict[Key, float]]]:
        for family in self.registry.collect():
            samples = [s for s in family.samples if not s.name.endswith("_created")]
            yield family, {(s.name, canonical(s.labels)): s.value for s in samples}

    def _living(self, session: Session, seconds: float = QUIET) -> list[str]:
        since = self.clock() - seconds
        return list(
            session.scalars(select(Meter.worker).where(Meter.name == ALIVE[0], Meter.value > since))
        )

    def _fold(self, session: Session) -> None:
        """One row instead of many, of workers that ended long ago."""
        kept = [*self._living(session, DAY), PAST]
        old = Meter.worker.not_in(kept)
        rows = session.execute(
            select(Meter.name, Meter.labels, func.sum(Meter.value))
            .where(old, Meter.name != ALIVE[0])
            .group_by(Meter.name, Meter.labels)
        ).all()
        for name, labels, value in rows:
            tallies.add(
                session, Meter, "value", float(value), worker=PAST, name=name, labels=labels
            )
        session.execute(delete(Meter).where(old))


def _sums(session: Session, workers: list[str] | None = None) -> dict[Key, float]:
    found = select(Meter.name, Meter.labels, func.sum(Meter.value)).where(Meter.name != ALIVE[0])
    if workers is not None:
        found = found.where(Meter.worker.in_(workers))
    rows = session.execute(found.group_by(Meter.name, Meter.labels)).all()
    return {(name, labels): float(value) for name, labels, value in rows}


def _is_of(family: Metric, name: str) -> bool:
    return name in [family.name + suffix for suffix in SUFFIXES]


def _sample(key: Key, value: float) -> Sample:
    return Sample(key[0], json.loads(key[1]), value)
