"""The state behind the counter: built from the ledger, and never ahead of it.

A desk is good for one head of its ledger. It is thrown away before every write, and comes back
only when the write is known to be in the ledger; after any failure it is built anew.
"""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from discreet.decision.answering.answer import Why
from discreet.decision.answering.desk import Desk
from discreet.decision.answering.relation import Axes, Relation, by_names
from discreet.decision.answering.vintage import Vintage
from discreet.decision.law.policy import Policy
from discreet.errors import DisclosureError, LedgerError
from discreet.server.deciding.unready import Unready, unready
from discreet.server.ledger import store
from discreet.server.ledger.chain import verify
from discreet.server.ledger.database import Database
from discreet.server.ledger.marks import check_secret
from discreet.server.ledger.meaning import Meaning
from discreet.server.ledger.population import axes_of, related, vintages
from discreet.server.ledger.schema import Damaged, Dataset, Entry, Kind, Publication, canonical, now
from discreet.server.showing.margins import names_of, set_of, sets_of
from discreet.table.formula import Formula
from discreet.table.table import Table

T = TypeVar("T")
Thought = TypeVar("Thought")
NEW_DESK = {Kind.POLICY, Kind.LISTED, Kind.CODEBOOK}
PROBE = 1 << 16  # bytes
HOPEFUL = 3  # decisions beside the database, before one holds the data set while it is made
UNACCEPTED = (
    "what the codebook says of {!r} was changed: nothing new is decided until a custodian accepts "
    "the change, at the desk or by `discreet ledger accept`. What is published can be read."
)


class Moved(Exception):
    """Another process wrote first."""


@dataclass
class Served:
    """A data set behind the counter; the desk is that of the head, or not there.

    `meaning` is what its data mean here, `accepted` the hash of what they mean by the ledger;
    `others` are the vintages that it is judged together with. `waits_for` is the data set whose
    changed codebook a custodian must accept before anything is decided.
    """

    id: int
    slug: str
    table: Table
    fingerprint: str
    meaning: Meaning
    about: Mapping[str, Any] | None = None  # in words, of the same codebook
    accepted: str | None = None
    others: tuple[str, ...] = ()
    waits_for: str | None = None
    desk: Desk | None = None
    counts: Mapping[str, dict[int, int]] | None = None  # of margins, as somebody looked last
    head: tuple[int, str] = (0, "")
    at: str = ""  # of the last entry
    closed: bool = False
    lock: threading.RLock = field(default_factory=threading.RLock)


class CurrentDesks:
    """Holds a desk for each data set, and brings it to what the ledger says."""

    def __init__(self, database: Database, secret: bytes) -> None:
        self.database, self.secret = database, secret
        self.served: dict[str, Served] = {}
        self._trouble: str | None = None

    def trouble(self) -> str | None:
        """Why nothing can be decided now, as far as is known without a decision."""
        if self._trouble is not None:
            self._probe()
        last = max((served.at for served in list(self.served.values())), default="")
        return self._trouble or _set_back(last) or self._unaccepted()

    def _unaccepted(self) -> str | None:
        """Does a custodian have to accept a changed codebook?"""
        try:
            with self.database.read() as session:
                slug = self._changed(session, [*self.served])
        except SQLAlchemyError as error:
            return str(unready(error))
        return None if slug is None else UNACCEPTED.format(slug)

    def _changed(self, session: Session, slugs: Iterable[str]) -> str | None:
        """The first of some data sets that means here what nobody has accepted."""
        here = [slug for slug in slugs if slug in self.served]
        for slug, accepted in store.accepted(session, here).items() if here else ():
            if self.served[slug].meaning.hash != accepted:
                return slug
        return None

    def _probe(self) -> None:
        """Can it be written to again?"""
        try:
            for size in (PROBE, 0):  # as much as a decision would need, and then no more
                with self.database.write() as session:
                    store.mark(session, "probe", now().ljust(size))
            self._trouble = None
        except SQLAlchemyError as error:
            self._trouble = str(unready(error))

    def _served(self, slug: str) -> Served:
        if slug not in self.served:
            raise DisclosureError(f"there is no data set {slug!r}.")
        return self.served[slug]

    # Thinking, then keeping

    def _decide(
        self,
        slug: str,
        think: Callable[[Served, Desk], Thought],
        keep: Callable[[Session, Served, Dataset, Thought], T],
    ) -> T:
        """Decide by the desk as of a head of the ledger, and write to that very head.

        The database is held for the writing only. Where others keep writing first, it is held from
        the start.
        """
        return self._act(slug, lambda served, desk: think(served, _there(served, desk)), keep)

    def _act(
        self,
        slug: str,
        think: Callable[[Served, Desk | None], Thought],
        keep: Callable[[Session, Served, Dataset, Thought], T],
    ) -> T:
        """The same, also while a custodian must accept a changed codebook: without a desk then."""
        served = self._served(slug)
        with served.lock:
            for _ in range(HOPEFUL):
                thought = self._think(served, think)

                def write(session: Session, dataset: Dataset, thought: Thought = thought) -> T:
                    return keep(session, served, dataset, thought)

                try:
                    return self._keep(served, write)
                except Moved:
                    continue

            def held(session: Session, dataset: Dataset) -> T:
                desk = self._caught_up(session, served, dataset)
                return keep(session, served, dataset, think(served, desk))

            return self._keep(served, held, anew=True)

    def _think(self, served: Served, think: Callable[[Served, Desk | None], Thought]) -> Thought:
        desk = self._look(served)
        try:
            return think(served, desk)
        except DisclosureError:
            raise
        except BaseException as error:
            served.desk = None  # who knows what state it is in
            if isinstance(error, SQLAlchemyError):
                raise unready(error) from error
            raise

    def _keep(
        self, served: Served, write: Callable[[Session, Dataset], T], *, anew: bool = False
    ) -> T:
        """Write, and know of it only from the ledger."""
        desk, served.desk = served.desk, None

        def held(session: Session) -> T:
            dataset = session.get_one(Dataset, served.id)
            if not anew and (dataset.head_number, dataset.head_hash) != served.head:
                raise Moved
            if not anew and desk is not None and self._waits_for(session, served) is not None:
                raise Moved  # meanwhile another codebook of another vintage was accepted
            if (said := _set_back(served.at)) is not None:
                raise Unready(said)
            self._check_written(session, served, dataset)
            return write(session, dataset)

        try:
            found = self.database.transact(served.id, held)
        except Moved:
            served.desk = desk  # as good as before: of its head
            raise
        except SQLAlchemyError as error:
            self._trouble = str(unready(error))
            raise Unready(self._trouble) from error
        self._trouble = None
        if not anew:
            served.desk = desk
        self._look(served)
        return found

    def _current(self, served: Served) -> Desk:
        """The desk of the ledger as it is now."""
        return _there(served, self._look(served))

    def _look(self, served: Served) -> Desk | None:
        """The same; none while a custodian must accept a changed codebook."""
        try:
            with self.database.read() as session:
                return self._caught_up(session, served, session.get_one(Dataset, served.id))
        except SQLAlchemyError as error:
            served.desk = None
            raise unready(error) from error

    def _caught_up(self, session: Session, served: Served, dataset: Dataset) -> Desk | None:
        desk, served.desk = served.desk, None
        head = (dataset.head_number, dataset.head_hash)
        if served.head != head:
            self._check_goes_on(session, served, dataset)
        new = [] if desk is None else store.entries(session, dataset, after=served.head[0])
        last = store.entry(session, dataset, dataset.head_number)
        served.head, served.at = head, "" if last is None else last.at
        served.closed = dataset.closed_at is not None
        served.accepted = None if last is None else last.meaning
        served.waits_for = self._waits_for(session, served)
        if served.waits_for is not None:
            return None
        if desk is None or any(entry.kind in NEW_DESK for entry in new):
            desk = self._desk_of(session, served, dataset)
        else:
            table = served.table
            desk.take(set_of(table, entry.margin or ()) for entry in new if entry.table_hash)
            gone = [set_of(table, e.margin or ()) for e in new if e.kind == Kind.REJECTED]
            desk.rejected = (*desk.rejected, *gone)
        served.desk = desk
        return desk

    def _waits_for(self, session: Session, served: Served) -> str | None:
        """The data set, or the other vintage of it, that means here what nobody has accepted."""
        if served.meaning.hash != served.accepted:
            return served.slug
        return None if served.closed else self._changed(session, served.others)

    def _check_goes_on(self, session: Session, served: Served, dataset: Dataset) -> None:
        """The ledger goes through what was seen of it: no older copy took its place."""
        number, hash_ = served.head
        known = store.entry(session, dataset, number) if number else None
        if number and (known is None or known.hash != hash_):
            raise Unready(
                f"the ledger of {served.slug!r} is not the one that this server has seen: entry "
                f"{number} is missing or another. Restore the newest backup, and start anew."
            )

    def _check_written(self, session: Session, served: Served, dataset: Dataset) -> None:
        """What is out and under which terms is what the last entry says: nobody wrote past it."""
        last = store.entry(session, dataset, dataset.head_number)
        try:
            out = self._out(session, dataset, served.table)
        except (DisclosureError, TypeError):
            raise Damaged from None
        same = last is not None and last.state == self._state_of(served, dataset, out)
        if not (same and store.has_its_terms(session, dataset)):
            raise Damaged

    # Writing

    def _append(self, session: Session, served: Served, dataset: Dataset, **entry: Any) -> Entry:
        session.flush()
        out = self._out(session, dataset, served.table)
        state = self._state_of(served, dataset, out)
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
        out = (*self._out(session, dataset, table), margin)
        publication = store.publish(
            session,
            dataset,
            table.margin(names).dense(),
            margin=names,
            actor=actor,
            state=self._state_of(served, dataset, out),
            **entry,
        )
        return session.get_one(Entry, (dataset.id, publication.entry_number))

    # Reading

    def _out(
        self, session: Session, dataset: Dataset, table: Table, *, proven: bool = False
    ) -> tuple[int, ...]:
        """What is out; `proven`: but for what a custodian approved in doubt."""
        published = select(Publication.margin).where(Publication.dataset_id == dataset.id)
        if proven:
            approved = select(Entry.number).where(
                Entry.dataset_id == dataset.id, Entry.why == Why.ACCEPTED
            )
            published = published.where(Publication.entry_number.not_in(approved))
        return tuple(set_of(table, margin) for margin in session.scalars(published))

    def _rejected(self, session: Session, dataset: Dataset, table: Table) -> tuple[int, ...]:
        """What custodians decided against since the policy is what it is."""
        found = select(Entry.margin).where(
            Entry.dataset_id == dataset.id,
            Entry.kind == Kind.REJECTED,
            Entry.policy_version == dataset.policy_version,
        )
        return tuple(set_of(table, margin or ()) for margin in session.scalars(found))

    def _desk_of(self, session: Session, served: Served, dataset: Dataset) -> Desk:
        """What the ledger says: its policy, its lists, what is out of it and of other vintages."""
        table = served.table
        self._check_written(session, served, dataset)
        desk = Desk(
            table,
            Policy.loads(dataset.policy),
            frontier=sets_of(table, dataset.frontier),
            listed=sets_of(table, dataset.listed),
            others=() if dataset.closed_at else self._others(session, dataset),
            out=self._out(session, dataset, table),
        )
        desk.rejected = self._rejected(session, dataset, table)
        return desk

    def _others(self, session: Session, dataset: Dataset, *, proven: bool = False) -> list[Vintage]:
        """The other vintages: their data are needed as long as this one can be asked."""
        found = list[Vintage]()
        relations = related(session, dataset)
        for other in vintages(session, dataset):
            if other.slug not in self.served:
                raise LedgerError(
                    f"{dataset.slug!r} is a vintage of the same people as {other.slug!r}, and is "
                    f"judged together with it: serve the data of {other.slug!r} too (--datasets)."
                )
            self._check_written(session, self._served(other.slug), other)
            relation = relations[other.id]
            found += self._vintages(session, axes_of(dataset), other, relation, proven=proven)
        return found

    def _vintages(
        self,
        session: Session,
        axes: Axes,
        other: Dataset,
        relation: Relation,
        *,
        proven: bool = False,
    ) -> Iterator[Vintage]:
        """Another vintage by what was said of it, and by names where these tell more."""
        table = self._served(other.slug).table
        out = self._out(session, other, table, proven=proven)
        named = by_names(axes, axes_of(other))
        others = related(session, other)
        for one in [relation] if relation == named else [relation, named]:
            if one.variables:
                again = one is not relation
                yield Vintage(table, out, one, other.id, others, again)

    def _state_of(self, served: Served, dataset: Dataset, out: Iterable[int]) -> str:
        version, meaning = dataset.policy_version, store.meaning_of(dataset)
        return self._state(served.fingerprint, version, served.table, out, meaning)

    def _state(
        self,
        fingerprint: str,
        version: int,
        table: Table,
        out: Iterable[int],
        meaning: str | None,
    ) -> str:
        """What is out, of which data, under which policy and meaning; earlier versions had none."""
        margins = sorted(names_of(table, s) for s in Formula(table.names, tuple(out)).frontier.sets)
        said = {"data": fingerprint, "policy": version, "out": margins}
        said |= {} if meaning is None else {"meaning": meaning}
        return sha256(canonical(said).encode()).hexdigest()

    def _fingerprint(self, table: Table) -> str:
        """Keyed, so that nobody can try out tables against it."""
        variables = canonical([[v.name, list(v.categories)] for v in table.variables])
        cells = table.codes.tobytes() + table.counts.tobytes()
        return hmac.new(self.secret, variables.encode() + b"\0" + cells, sha256).hexdigest()

    def _check(self, session: Session, dataset_id: int, table: Table, fingerprint: str) -> None:
        """The whole ledger, its terms and publications, before the first answer."""
        verified = verify(session, dataset_id)
        for problem in verified.problems:
            raise LedgerError(
                f"the ledger of {verified.dataset!r} does not hold: {problem} Run `discreet ledger "
                "verify`, and restore the newest backup."
            )
        dataset = session.get_one(Dataset, dataset_id)
        check_secret(session, self.secret)
        if dataset.fingerprint != fingerprint:
            raise LedgerError(
                f"the data of {dataset.slug!r} are not those that its ledger was opened with; "
                "serve the same file as then, with the same secret. A newer state of the data is a "
                f"data set of its own, with --previous {dataset.slug}."
            )
        out: list[int] = []
        for entry in store.entries(session, dataset):
            if entry.table_hash is not None:
                out.append(set_of(table, entry.margin or ()))
            version, meaning = entry.policy_version, entry.meaning
            if entry.state != self._state(fingerprint, version, table, out, meaning):
                raise LedgerError(
                    f"entry {entry.number} of {dataset.slug!r} says another state than the entries "
                    "lead to; run `discreet ledger verify`, and restore the newest backup."
                )
        for publication in store.publications(session, dataset, withdrawn=True):
            truth = table.margin(publication.margin).dense()
            if not (store.counts_of(dataset, publication) == truth).all():
                raise LedgerError(
                    f"the published {'*'.join(publication.margin)} is not that of the data."
                )


def _there(served: Served, desk: Desk | None) -> Desk:
    if desk is None:
        raise Unready(UNACCEPTED.format(served.waits_for))
    return desk


def _set_back(last: str) -> str | None:
    """Is the clock behind what it was when the last entry came?"""
    if (time := now()) >= last:
        return None
    return (
        f"the clock says {time[:19]}, but the ledger has an entry of {last[:19]}; set the clock "
        "of this machine."
    )
