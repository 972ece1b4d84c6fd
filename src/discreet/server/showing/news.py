"""Has anything changed that published tables rest on? Looked up a few times a second, at most."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Text, func, or_, select, type_coerce
from starlette.concurrency import run_in_threadpool

from discreet.server.ledger.database import Database
from discreet.server.ledger.schema import Dataset, Entry, Kind

FRESH = 0.5  # seconds that a look is good for, unless something was changed here


@dataclass(frozen=True)
class Stamp:
    """What the public is shown of a data set is the same while this is."""

    last: int  # entry that published, withdrew, or changed the terms
    title: str
    about: str | None


class News:
    """The stamp of each data set. What other processes change is seen within `FRESH` seconds."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self.database, self.clock = database, clock
        self._seen = self._changed = float("-inf")
        self._stamps: dict[str, Stamp] = {}
        self._heads: dict[int, tuple[int, int]] = {}  # the last entry, and the last that counts
        self._look: asyncio.Task[None] | None = None

    async def of(self, slug: str) -> Stamp | None:
        """As of now; None if there is no such data set."""
        need = max(self._changed, self.clock() - FRESH)
        while self._seen < need:  # a look under way may have begun too early
            if self._look is None:
                self._look = asyncio.create_task(self._update())
            await asyncio.shield(self._look)
        return self._stamps.get(slug)

    def forget(self) -> None:
        """Something was changed by this process."""
        self._changed = self.clock()

    async def _update(self) -> None:
        begun = self.clock()
        try:
            self._stamps = await run_in_threadpool(self._read)
            self._seen = begun
        finally:
            self._look = None

    def _read(self) -> dict[str, Stamp]:
        with self.database.read() as session:
            found = {}
            for id_, slug, head, title, about in session.execute(
                select(
                    Dataset.id,
                    Dataset.slug,
                    Dataset.head_number,
                    Dataset.title,
                    type_coerce(Dataset.about, Text),
                )
            ):
                before, last = self._heads.get(id_, (0, head))
                if head < before:  # another database took its place
                    last = -before
                elif head > before > 0:
                    new = select(func.max(Entry.number)).where(
                        Entry.dataset_id == id_,
                        Entry.number > before,
                        or_(Entry.table_hash.is_not(None), Entry.kind != Kind.REQUEST),
                    )
                    last = session.scalar(new) or last
                self._heads[id_] = head, last
                found[slug] = Stamp(last, title, about)
        return found
