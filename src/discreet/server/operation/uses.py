"""How often something was done: counted in memory, written together, because a write is dear."""

from __future__ import annotations

import threading
from collections import Counter

from sqlalchemy.exc import SQLAlchemyError

from discreet.server.ledger import store
from discreet.server.ledger.database import Database
from discreet.server.operation.logs import log


class Uses:
    """What was done with data sets since it was last written."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[int, str]] = Counter()

    def add(self, dataset_id: int, *what: str) -> None:
        with self._lock:
            self._counts.update((dataset_id, one) for one in what)

    def write(self, database: Database) -> None:
        """If that fails, the next time has it."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        if not counts:
            return
        try:
            with database.write() as session:
                for (dataset_id, what), n in counts.items():
                    store.use(session, dataset_id, what, n)
        except SQLAlchemyError as error:
            with self._lock:
                self._counts.update(counts)
            log().warning("uses not written", reason=type(error).__name__)
