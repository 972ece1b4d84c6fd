"""The state behind the counter: built from the ledger, and never ahead of it."""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session

from discreet.decision.answering.desk import Desk
from discreet.decision.policy import Policy
from discreet.errors import DisclosureError, LedgerError
from discreet.server.ledger import store
from discreet.server.ledger.database import Database
from discreet.server.ledger.schema import Dataset, Entry, Kind, Publication, canonical
from discreet.server.margins import names_of, set_of, sets_of
from discreet.table.formula import Formula
from discreet.table.table import Table

T = TypeVar("T")


@dataclass
class Served:
    """A data set behind the counter: `seen` is the last entry that the desk knows of."""

    id: int
    slug: str
    table: Table
    fingerprint: str
    desk: Desk
    seen: int = 0
    closed: bool = False
    previous: Served | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)


class Keeper:
    """Holds a desk for each data set, and brings it to what the ledger says."""

    def __init__(self, database: Database, secret: bytes) -> None:
        self.database, self.secret = database, secret
        self.served: dict[str, Served] = {}

    def _served(self, slug: str) -> Served:
        if slug not in self.served:
            raise DisclosureError(f"there is no data set {slug!r}.")
        return self.served[slug]

    def _at(self, slug: str, work: Callable[[Session, Served, Dataset], T]) -> T:
        """Do something in one transaction that holds the data set, then know what came of it."""
        served = self._served(slug)

        def held(session: Session) -> T:
            dataset = session.get_one(Dataset, served.id)
            self._catch_up(session, served, dataset)
            return work(session, served, dataset)

        with served.lock:
            try:
                found = self.database.transact(served.id, held)
            except BaseException:
                self._restore(served)
                raise
            self._refresh(served)
            return found

    def _refresh(self, served: Served) -> None:
        """Learn of entries that are new, from here or from other processes."""
        with self.database.read() as session:
            self._catch_up(session, served, session.get_one(Dataset, served.id))

    def _catch_up(self, session: Session, served: Served, dataset: Dataset) -> None:
        if dataset.head_number == served.seen:
            return
        new = store.entries(session, dataset, after=served.seen)
        if any(entry.kind in (Kind.POLICY, Kind.LISTED) for entry in new):
            out = self._out(session, dataset, served.table)
            served.desk = self._desk_of(served.table, dataset, served.previous, out)
            served.desk.rejected = self._rejected(session, dataset, served.table)
        else:
            served.desk.take(
                set_of(served.table, entry.margin or ()) for entry in new if entry.table_hash
            )
            gone = [set_of(served.table, e.margin or ()) for e in new if e.kind == Kind.REJECTED]
            served.desk.rejected = (*served.desk.rejected, *gone)
        served.seen, served.closed = dataset.head_number, dataset.closed_at is not None

    def _restore(self, served: Served) -> None:
        """After a failure the desk is built anew if its terms are not those of the ledger."""
        with self.database.read() as session:
            dataset = session.get_one(Dataset, served.id)
            if served.desk.policy != Policy.loads(dataset.policy):
                out = self._out(session, dataset, served.table)
                served.desk = self._desk_of(served.table, dataset, served.previous, out)
                served.desk.rejected = self._rejected(session, dataset, served.table)

    def _append(self, session: Session, served: Served, dataset: Dataset, **entry: Any) -> Entry:
        session.flush()
        state = self._state_of(served, dataset.policy_version)
        return store.append(session, dataset, state=state, **entry)

    def _publish(
        self,
        session: Session,
        served: Served,
        dataset: Dataset,
        margin: int,
        actor: str,
        **entry: Any,
    ) -> Entry:
        table, names = served.table, names_of(served.table, margin)
        out = (*served.desk.out, margin)
        publication = store.publish(
            session,
            dataset,
            table.margin(names).dense(),
            margin=names,
            actor=actor,
            state=self._state(served.fingerprint, dataset.policy_version, table, out),
            **entry,
        )
        return session.get_one(Entry, (dataset.id, publication.entry_number))

    def _out(self, session: Session, dataset: Dataset, table: Table) -> tuple[int, ...]:
        published = select(Publication.margin).where(Publication.dataset_id == dataset.id)
        return tuple(set_of(table, margin) for margin in session.scalars(published))

    def _rejected(self, session: Session, dataset: Dataset, table: Table) -> tuple[int, ...]:
        """What custodians decided against since the policy is what it is."""
        found = select(Entry.margin).where(
            Entry.dataset_id == dataset.id,
            Entry.kind == Kind.REJECTED,
            Entry.policy_version == dataset.policy_version,
        )
        return tuple(set_of(table, margin or ()) for margin in session.scalars(found))

    def _desk_of(
        self, table: Table, dataset: Dataset, older: Served | None, out: Iterable[int]
    ) -> Desk:
        policy = Policy.loads(dataset.policy)
        frontier, listed = sets_of(table, dataset.frontier), sets_of(table, dataset.listed)
        desk = self._desk(table, policy, frontier, listed, older)
        desk.take(out)
        return desk

    def _desk(
        self,
        table: Table,
        policy: Policy,
        frontier: tuple[int, ...] | None,
        listed: tuple[int, ...] | None,
        older: Served | None,
    ) -> Desk:
        previous = None if older is None else (older.table, older.desk.out)
        return Desk(table, policy, frontier=frontier, listed=listed, previous=previous)

    def _state_of(self, served: Served, version: int) -> str:
        return self._state(served.fingerprint, version, served.table, served.desk.out)

    def _state(self, fingerprint: str, version: int, table: Table, out: Iterable[int]) -> str:
        """What is out, of which data, under which policy."""
        margins = sorted(names_of(table, s) for s in Formula(table.names, tuple(out)).frontier.sets)
        said = {"data": fingerprint, "policy": version, "out": margins}
        return sha256(canonical(said).encode()).hexdigest()

    def _fingerprint(self, table: Table) -> str:
        """Keyed, so that nobody can try out tables against it."""
        variables = canonical([[v.name, list(v.categories)] for v in table.variables])
        cells = table.codes.tobytes() + table.counts.tobytes()
        return hmac.new(self.secret, variables.encode() + b"\0" + cells, sha256).hexdigest()

    def _rebuild(self, table: Table, id: int, fingerprint: str, older: Served | None) -> Served:
        """The state that the ledger tells, compared with what it says of it."""
        with self.database.read() as session:
            dataset = session.get_one(Dataset, id)
            if dataset.fingerprint != fingerprint:
                raise LedgerError(
                    f"the data of {dataset.slug!r} are not those that its ledger was opened with; "
                    "serve them as a new data set, with this one as its previous vintage."
                )
            desk = self._desk_of(table, dataset, older, self._out(session, dataset, table))
            served = Served(id, dataset.slug, table, fingerprint, desk, previous=older)
            served.seen, served.closed = dataset.head_number, dataset.closed_at is not None
            desk.rejected = self._rejected(session, dataset, table)
            last = store.entry(session, dataset, dataset.head_number)
            if last is None or last.state != self._state_of(served, dataset.policy_version):
                raise LedgerError(
                    f"the ledger of {dataset.slug!r} says another state than its entries lead to; "
                    "run `discreet ledger verify`."
                )
            for publication in store.publications(session, dataset, withdrawn=True):
                truth = table.margin(publication.margin).dense()
                if not (store.counts_of(dataset, publication) == truth).all():
                    raise LedgerError(
                        f"the published {'*'.join(publication.margin)} is not that of the data."
                    )
        return served
