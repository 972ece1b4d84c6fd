"""Where requests are decided: a desk for each data set, and the ledger that every answer enters."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from discreet.decision.answering.answer import Answer, Outcome, Standing, Why
from discreet.decision.answering.desk import Cost, Desk
from discreet.decision.answering.space import within
from discreet.decision.brief import Brief
from discreet.decision.huge import is_huge
from discreet.decision.policy import Policy
from discreet.errors import DisclosureError
from discreet.server.keeper import Keeper, Served
from discreet.server.ledger import store
from discreet.server.ledger.schema import Dataset, Entry, Kind
from discreet.server.margins import lists_of, names_of, set_of, sets_of
from discreet.table.table import Table

PUBLIC = "public"


@dataclass(frozen=True)
class Decided:
    """A decision that is in the ledger; `near` are margins that are out."""

    number: int
    outcome: Outcome
    why: Why
    margin: tuple[str, ...]
    near: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class DryRun:
    """What another policy would change: does it allow what is out, and what stays possible?"""

    keeps: bool
    before: dict[str, dict[int, int]]
    after: dict[str, dict[int, int]]
    complete: bool


class Counter(Keeper):
    """Decides on requests, one at a time for each data set, and tells nothing before it is kept."""

    # Data sets

    def open(
        self,
        table: Table,
        policy: Policy,
        *,
        slug: str,
        title: str = "",
        frontier: Iterable[Iterable[str]] | None = None,
        listed: Iterable[Iterable[str]] | None = None,
        previous: str | None = None,
        judged: bool = False,
    ) -> Served:
        """Put a table behind the counter; if its ledger is there, go on from where it is.

        What is out from the start is judged once, unless the frontier was `judged` before.
        """
        fingerprint = self._fingerprint(table)
        older = None if previous is None else self._served(previous)
        if not judged and not self._is_known(slug):  # before an older vintage is closed for it
            _check_start(self._desk(table, policy, sets_of(table, frontier), None, older))

        def begin(session: Session) -> int:
            found = store.find_dataset(session, slug)
            if found is not None:
                return found.id
            first, allowed = sets_of(table, frontier), sets_of(table, listed)
            desk = self._desk(table, policy, first, allowed, older)
            dataset = store.open_dataset(
                session,
                slug=slug,
                title=title or slug,
                fingerprint=fingerprint,
                policy=policy.to_toml(),
                variables=[
                    {"name": v.name, "categories": list(v.categories)} for v in table.variables
                ],
                frontier=lists_of(table, first),
                listed=lists_of(table, allowed),
                previous=None if older is None else older.id,
                state=self._state(fingerprint, 1, table, ()),
            )
            for place, margin in enumerate(desk.out, 1):
                names = names_of(table, margin)
                state = self._state(fingerprint, 1, table, desk.out[:place])
                counts = table.margin(names).dense()
                store.publish(
                    session, dataset, counts, margin=names, actor=PUBLIC, state=state,
                    kind=Kind.PUBLISHED, why=Why.OUT,
                )  # fmt: skip
            return dataset.id

        if older is not None:
            self.close(older.slug, PUBLIC, f"the newer vintage {slug} is open")
        dataset_id = self.database.transact(None, begin)
        served = self._rebuild(table, dataset_id, fingerprint, older)
        self.served[slug] = served
        return served

    def _is_known(self, slug: str) -> bool:
        with self.database.read() as session:
            return store.find_dataset(session, slug) is not None

    def close(self, slug: str, actor: str, why: str) -> None:
        """No more new tables; what is out stays."""

        def work(session: Session, served: Served, dataset: Dataset) -> None:
            if dataset.closed_at is None:
                dataset.closed_at = datetime.now(UTC).isoformat(timespec="microseconds")
                self._append(session, served, dataset, kind=Kind.CLOSED, actor=actor, note=why)

        self._at(slug, work)
        self.served[slug].closed = True

    # Requests

    def request(
        self, slug: str, names: Sequence[str], actor: str = PUBLIC, *, at: str | None = None
    ) -> Decided:
        """Decide on a request; the answer is in the ledger when this returns.

        `at` is when it came: the public reads it, and when it was decided would tell how long that
        took.
        """
        served = self._served(slug)
        margin = set_of(served.table, names)

        def work(session: Session, served: Served, dataset: Dataset) -> Decided:
            answer = self._answer(session, served, dataset, margin, actor)
            if answer.outcome is Outcome.GRANTED and answer.why is not Why.OUT:
                entry = self._publish(
                    session, served, dataset, margin, actor, why=answer.why, at=at
                )
            else:
                entry = self._append(
                    session, served, dataset, kind=Kind.REQUEST, actor=actor,
                    margin=names_of(served.table, margin), outcome=answer.outcome, why=answer.why,
                    at=at,
                )  # fmt: skip
            return self._decided(served, entry, answer)

        return self._at(slug, work)

    def _answer(
        self, session: Session, served: Served, dataset: Dataset, margin: int, actor: str
    ) -> Answer:
        if served.closed and not within(margin, served.desk.out):
            return Answer(margin, Outcome.REFUSED, Why.CLOSED, served.desk.near(margin))
        received = 0
        if served.desk.rule.quota:
            since = (datetime.now(UTC) - timedelta(days=1)).isoformat(timespec="microseconds")
            received = self._received(session, dataset, actor, since)
        return served.desk.ask(margin, received=received)

    def _received(self, session: Session, dataset: Dataset, actor: str, since: str) -> int:
        """How many new tables a user has had."""
        own = select(Entry.number).where(
            Entry.dataset_id == dataset.id, Entry.actor == actor, Entry.kind == Kind.REQUEST
        )
        had = select(func.count()).where(
            Entry.dataset_id == dataset.id,
            Entry.table_hash.is_not(None),
            Entry.at >= since,
            Entry.number.in_(own) | Entry.about.in_(own),
        )
        return session.scalar(had) or 0

    def standing(self, slug: str, names: Sequence[str]) -> Standing:
        """Released, possible or gone, as of now."""
        served = self._served(slug)
        margin = set_of(served.table, names)
        with served.lock:
            self._refresh(served)
            found = served.desk.standing(margin)
        return Standing(found.status, False, Why.CLOSED) if _shut(served, found) else found

    # What a custodian does

    def approve(self, slug: str, number: int, actor: str, note: str = "") -> Decided:
        """Publish what is pending, if it is still safe."""

        def work(session: Session, served: Served, dataset: Dataset) -> Decided:
            margin = set_of(served.table, self._pending(session, dataset, number).margin or ())
            answer = self._answer(session, served, dataset, margin, actor)
            if answer.outcome is Outcome.REFUSED:
                raise DisclosureError(f"the request can no longer be approved: {answer.why.said}")
            names = names_of(served.table, margin)
            if answer.why is Why.OUT:
                entry = self._append(
                    session, served, dataset, kind=Kind.APPROVED, actor=actor, about=number,
                    margin=names, outcome=Outcome.GRANTED, why=Why.OUT, note=note or None,
                )  # fmt: skip
            else:
                entry = self._publish(
                    session, served, dataset, margin, actor, kind=Kind.APPROVED, about=number,
                    why=Why.SAFE, note=note or None,
                )  # fmt: skip
            return Decided(entry.number, Outcome.GRANTED, Why(entry.why or ""), names)

        return self._at(slug, work)

    def reject(self, slug: str, number: int, actor: str, note: str = "") -> Decided:
        def work(session: Session, served: Served, dataset: Dataset) -> Decided:
            names = tuple(self._pending(session, dataset, number).margin or ())
            entry = self._append(
                session, served, dataset, kind=Kind.REJECTED, actor=actor, about=number,
                margin=names, outcome=Outcome.REFUSED, why=Why.REJECTED, note=note or None,
            )  # fmt: skip
            return Decided(entry.number, Outcome.REFUSED, Why.REJECTED, names)

        return self._at(slug, work)

    def withdraw(self, slug: str, names: Sequence[str], actor: str, why: str) -> Entry:
        """Serve a table no more; what is out stays counted."""
        served = self._served(slug)
        wanted = list(names_of(served.table, set_of(served.table, names)))

        def work(session: Session, served: Served, dataset: Dataset) -> Entry:
            found = [p for p in store.publications(session, dataset) if p.margin == wanted]
            if not found:
                raise DisclosureError(
                    f"{'*'.join(wanted)} was not published by itself; withdraw the table that "
                    "holds it."
                )
            state = self._state_of(served, dataset.policy_version)
            return store.withdraw(session, dataset, found[0], actor=actor, state=state, why=why)

        return self._at(slug, work)

    def change_policy(self, slug: str, changes: dict[str, Any], actor: str, note: str = "") -> int:
        """Other terms from now on; the new version."""

        def work(session: Session, served: Served, dataset: Dataset) -> int:
            policy = served.desk.policy.change(changes)
            dataset.policy, dataset.policy_version = policy.to_toml(), dataset.policy_version + 1
            if policy.server.rule == "static" and dataset.frontier is None:
                raise DisclosureError("the static rule needs a frontier, which was not given.")
            served.desk = self._desk_of(served.table, dataset, served.previous, served.desk.out)
            self._append(
                session, served, dataset, kind=Kind.POLICY, actor=actor,
                note=note or ", ".join(f"{k} = {v}" for k, v in changes.items()),
            )  # fmt: skip
            return dataset.policy_version

        return self._at(slug, work)

    def list_margins(self, slug: str, margins: Iterable[Iterable[str]], actor: str) -> None:
        """What can be asked for, where the policy says that only listed margins can."""

        def work(session: Session, served: Served, dataset: Dataset) -> None:
            sets = sets_of(served.table, margins)
            dataset.listed = lists_of(served.table, sets)
            served.desk.listed = sets
            self._append(session, served, dataset, kind=Kind.LISTED, actor=actor)

        self._at(slug, work)

    def dry_run(self, slug: str, changes: dict[str, Any], *, seconds: float = 10.0) -> DryRun:
        """What a change of policy would do; nothing is changed."""
        served = self._served(slug)
        with served.lock:
            self._refresh(served)
            served.desk.space.survey(time.monotonic() + seconds)
            before, out = served.desk.space.counts(), served.desk.out
        with self.database.read() as session:
            dataset = session.get_one(Dataset, served.id)
            policy = served.desk.policy.change(changes)
            frontier = sets_of(served.table, dataset.frontier)
            desk = self._desk(
                served.table,
                policy,
                frontier,
                sets_of(served.table, dataset.listed),
                served.previous,
            )
        desk.take(out)
        complete = desk.space.survey(time.monotonic() + seconds)
        return DryRun(desk.keeps(), before, desk.space.counts(), complete)

    def cost(self, slug: str, names: Sequence[str], *, seconds: float = 5.0) -> Cost:
        """What the release of a margin would close off."""
        served = self._served(slug)
        with served.lock:
            self._refresh(served)
            served.desk.space.survey(time.monotonic() + seconds)
            return served.desk.cost(set_of(served.table, names), seconds=seconds)

    @contextmanager
    def desk(self, slug: str) -> Iterator[Desk]:
        """The desk as of now, for whoever may see more than the public."""
        served = self._served(slug)
        with served.lock:
            self._refresh(served)
            yield served.desk

    def _pending(self, session: Session, dataset: Dataset, number: int) -> Entry:
        entry = store.entry(session, dataset, number)
        if entry is None or entry.kind != Kind.REQUEST or entry.outcome != Outcome.PENDING:
            raise DisclosureError(f"entry {number} is no pending request.")
        about = select(Entry).where(Entry.dataset_id == dataset.id, Entry.about == number)
        if session.scalar(about) is not None:
            raise DisclosureError(f"request {number} is decided already.")
        return entry

    def _decided(self, served: Served, entry: Entry, answer: Answer) -> Decided:
        table = served.table
        near = tuple(names_of(table, s) for s in answer.near)
        return Decided(entry.number, answer.outcome, answer.why, tuple(entry.margin or ()), near)


def _check_start(desk: Desk) -> None:
    """What is out before anybody asks must keep the policy, as what is granted later."""
    if not desk.out or is_huge(Brief(desk.table, desk.policy)) or desk.keeps():
        return
    if desk.rule.rule == "static":
        raise DisclosureError(
            "the frontier does not keep the policy; `discreet assess` says why, and `discreet "
            "frontier` finds one that does."
        )
    raise DisclosureError(
        "the one-way margins do not keep the policy, and would be out from the start; merge "
        "categories, or set server.one_way = false."
    )


def _shut(served: Served, found: Standing) -> bool:
    return served.closed and found.candidate
