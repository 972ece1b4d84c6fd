"""Where requests are decided: a desk for each data set, and the ledger that every answer enters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from discreet.decision.answering import gate
from discreet.decision.answering.answer import Answer, Outcome, Standing, Why
from discreet.decision.answering.desk import TRIALS, Desk
from discreet.decision.answering.space import within
from discreet.effort import Clock
from discreet.errors import DisclosureError
from discreet.server.deciding.current_desks import UNACCEPTED, Served
from discreet.server.deciding.office import Office
from discreet.server.deciding.unready import Unready
from discreet.server.ledger import store
from discreet.server.ledger.schema import Dataset, Entry, Kind
from discreet.server.showing.margins import names_of, set_of, sets_of
from discreet.server.showing.shapes import OrderView, View
from discreet.table.impossible import Combination

PUBLIC = "public"


@dataclass(frozen=True)
class Decided:
    """A decision that is in the ledger; `near` are margins that are out."""

    number: int
    outcome: Outcome
    why: Why
    margin: tuple[str, ...]
    near: tuple[tuple[str, ...], ...] = ()


class CostView(View):
    possible: int
    gone: int
    narrowest: int | None
    complete: bool


class DryRunView(View):
    keeps: bool = Field(description="Does the new policy allow what is out?")
    complete: bool
    before: list[OrderView]
    after: list[OrderView]


class Counter(Office):
    """Decides on requests, one at a time for each data set, and tells nothing before it is kept."""

    # Requests

    def request(
        self, slug: str, names: Sequence[str], actor: str = PUBLIC, *, at: str | None = None
    ) -> Decided:
        """Decide on a request; the answer is in the ledger when this returns.

        `at` is when it came: the public reads it, and when it was decided would tell how long that
        took. What waits already waits once: the entry says for which one it stands.
        """
        margin = set_of(self._served(slug).table, names)

        def think(served: Served, desk: Desk) -> tuple[Answer, int | None]:
            answer = self._answer(served, desk, margin, [actor])
            pending = answer.outcome is Outcome.PENDING
            return answer, self._waiting(served, margin) if pending else None

        def keep(
            session: Session, served: Served, dataset: Dataset, thought: tuple[Answer, int | None]
        ) -> Decided:
            answer, waiting = thought
            if answer.outcome is Outcome.GRANTED and answer.why is not Why.OUT:
                entry = self._publish(
                    session, served, dataset, margin, actor, why=answer.why, at=at
                )
            else:
                entry = self._append(
                    session, served, dataset, kind=Kind.REQUEST, actor=actor, about=waiting,
                    margin=names_of(served.table, margin), outcome=answer.outcome, why=answer.why,
                    at=at,
                )  # fmt: skip
            return _decided(served, entry, answer)

        return self._decide(slug, think, keep)

    def _answer(
        self, served: Served, desk: Desk, margin: int, charged: Sequence[str] = ()
    ) -> Answer:
        """By the desk; one of those who are charged must have some of the quota left."""
        if served.closed and not within(margin, desk.out):
            return Answer(margin, Outcome.REFUSED, Why.CLOSED, desk.near(margin))
        received = 0
        if desk.rule.quota and charged:
            since = (datetime.now(UTC) - timedelta(days=1)).isoformat(timespec="microseconds")
            received = min(self._received(served, actor, since) for actor in charged)
        return desk.ask(margin, received=received)

    def _received(self, served: Served, actor: str, since: str) -> int:
        """How many tables were published that a user had asked for, first or while they waited."""
        requests = (Entry.dataset_id == served.id, Entry.actor == actor, Entry.kind == Kind.REQUEST)
        own = select(Entry.number).where(*requests)
        joined = select(Entry.about).where(*requests, Entry.about.is_not(None))
        had = select(func.count()).where(
            Entry.dataset_id == served.id,
            Entry.table_hash.is_not(None),
            Entry.at >= since,
            Entry.number.in_(own) | Entry.about.in_(own) | Entry.about.in_(joined),
        )
        with self.database.read() as session:
            return session.scalar(had) or 0

    def _waiting(self, served: Served, margin: int) -> int | None:
        """The request for the same margin that a custodian has not decided."""
        with self.database.read() as session:
            found = store.waiting(session, served.id)
        wanted = list(names_of(served.table, margin))
        return next((entry.number for entry in found if entry.margin == wanted), None)

    def _askers(self, served: Served, number: int) -> list[str]:
        """Who asked for what waits: first, and later while it waited."""
        asked = (
            select(Entry.actor)
            .where(
                Entry.dataset_id == served.id,
                Entry.kind == Kind.REQUEST,
                (Entry.number == number) | (Entry.about == number),
            )
            .distinct()
        )
        with self.database.read() as session:
            return list(session.scalars(asked))

    def standing(self, slug: str, names: Sequence[str]) -> Standing:
        """Released, possible or gone, as of now."""
        with self.desk(slug) as desk:
            served = self._served(slug)
            found = desk.standing(set_of(served.table, names))
            shut = served.closed and found.candidate
        return Standing(found.status, False, Why.CLOSED) if shut else found

    def is_known(self, slug: str, names: Sequence[str]) -> bool:
        """Does its standing take no work? While others decide, nobody knows."""
        served = self._served(slug)
        if not served.lock.acquire(blocking=False):
            return False
        try:
            return served.desk is not None and served.desk.is_known(set_of(served.table, names))
        finally:
            served.lock.release()

    def counts(self, slug: str) -> Mapping[str, dict[int, int]]:
        """How many margins of each order are released, possible and gone."""
        with self.desk(slug) as desk:
            found = self._served(slug).counts = desk.space.counts()
        return found

    def kept_counts(self, slug: str) -> Mapping[str, dict[int, int]] | None:
        """The same as of when somebody looked last, for who does not wait for others' decisions."""
        served = self._served(slug)
        with self.database.read() as session:
            changed = self._changed(session, [slug, *(() if served.closed else served.others)])
        if changed is not None:
            raise Unready(UNACCEPTED.format(changed))
        return served.counts

    def impossible(self, slug: str) -> tuple[Combination, ...]:
        """What was stated that nobody can have; not what was found in the data."""
        served = self._served(slug)
        with self.database.read() as session:
            if self._changed(session, [slug]) is not None:
                raise Unready(UNACCEPTED.format(slug))
        return served.table.impossible

    # What a custodian does

    def approve(self, slug: str, number: int, actor: str, note: str = "") -> Decided:
        """Publish what is pending, if it is still safe, and enough custodians say so.

        It is charged to who asked for it, when it is published.
        """

        def think(served: Served, desk: Desk) -> tuple[Answer, bool]:
            entry, said = self._pending(served, number)
            margin = set_of(served.table, entry.margin or ())
            wanted = desk.rule.approvers
            enough = len(said) + 1 >= wanted
            askers = self._askers(served, number)
            answer = self._answer(served, desk, margin, askers if enough else ())
            if answer.why is Why.QUOTA:
                raise DisclosureError(
                    "who asked for it has received as many new tables as one user can have in a "
                    "day (server.quota); approve it tomorrow."
                )
            if answer.outcome is Outcome.REFUSED:
                raise DisclosureError(f"the request can no longer be approved: {answer.why.said}")
            if wanted > 1 and actor in askers:
                raise DisclosureError("this is your own request; others must approve it.")
            if actor in said:
                raise DisclosureError("you have approved it; another custodian must, too.")
            return answer, enough

        def keep(
            session: Session, served: Served, dataset: Dataset, thought: tuple[Answer, bool]
        ) -> Decided:
            answer, enough = thought
            names = names_of(served.table, answer.margin)
            if enough and answer.why is not Why.OUT:
                entry = self._publish(
                    session, served, dataset, answer.margin, actor, kind=Kind.APPROVED,
                    about=number, note=note or None,
                    why=Why.ACCEPTED if answer.why is Why.DOUBT else Why.SAFE,
                )  # fmt: skip
            else:
                outcome, why = (
                    (Outcome.GRANTED, Why.OUT) if enough else (Outcome.PENDING, Why.SECOND)
                )
                entry = self._append(
                    session, served, dataset, kind=Kind.APPROVED, actor=actor, about=number,
                    margin=names, outcome=outcome, why=why, note=note or None,
                )  # fmt: skip
            return Decided(entry.number, Outcome(entry.outcome or ""), Why(entry.why or ""), names)

        return self._decide(slug, think, keep)

    def reject(self, slug: str, number: int, actor: str, note: str = "") -> Decided:
        def think(served: Served, desk: Desk) -> tuple[str, ...]:
            return tuple(self._pending(served, number)[0].margin or ())

        def keep(
            session: Session, served: Served, dataset: Dataset, names: tuple[str, ...]
        ) -> Decided:
            entry = self._append(
                session, served, dataset, kind=Kind.REJECTED, actor=actor, about=number,
                margin=names, outcome=Outcome.REFUSED, why=Why.REJECTED, note=note or None,
            )  # fmt: skip
            return Decided(entry.number, Outcome.REFUSED, Why.REJECTED, names)

        return self._decide(slug, think, keep)

    def withdraw(self, slug: str, names: Sequence[str], actor: str, why: str) -> Entry:
        """Serve a table no more; what is out stays counted."""
        table = self._served(slug).table
        wanted = list(names_of(table, set_of(table, names)))

        def keep(session: Session, served: Served, dataset: Dataset, _: None) -> Entry:
            found = [p for p in store.publications(session, dataset) if p.margin == wanted]
            if not found:
                raise DisclosureError(
                    f"{'*'.join(wanted)} was not published by itself; withdraw the table that "
                    "holds it."
                )
            out = self._out(session, dataset, table)
            state = self._state_of(served, dataset, out)
            return store.withdraw(session, dataset, found[0], actor=actor, state=state, why=why)

        return self._act(slug, lambda served, desk: None, keep)

    def dry_run(self, slug: str, changes: dict[str, Any], *, seconds: float = 60.0) -> DryRunView:
        """What a change of policy would do; nothing is changed."""
        served = self._served(slug)
        with self.desk(slug) as desk:
            desk.space.survey(TRIALS, Clock(seconds))
            before, policy = desk.space.counts(), desk.policy.change(changes)
        with self.database.read() as session:
            changed = self._supposed(session, served, policy)
            frontier = sets_of(served.table, session.get_one(Dataset, served.id).frontier)
        keeps = changed.keeps()
        if keeps and (new := changed.added(frontier)):
            try:
                gate.check(served.table, (*changed.out, *new), policy, changed.others)
                changed.take(new)
            except gate.NotSafe:
                keeps = False
        complete = changed.space.survey(TRIALS, Clock(seconds))
        most = len(served.table.names)
        return DryRunView(
            keeps=keeps,
            complete=complete,
            before=OrderView.each(before, most),
            after=OrderView.each(changed.space.counts(), most),
        )

    def cost(self, slug: str, names: Sequence[str], *, seconds: float = 20.0) -> CostView:
        """What the release of a margin would close off."""
        with self.desk(slug) as desk:
            desk.space.survey(TRIALS, Clock(seconds))
            found = desk.cost(set_of(desk.table, names), seconds=seconds)
        return CostView.model_validate(found)

    @contextmanager
    def desk(self, slug: str) -> Iterator[Desk]:
        """The desk as of now, for whoever may see more than the public."""
        served = self._served(slug)
        with served.lock:
            yield self._current(served)

    def _pending(self, served: Served, number: int) -> tuple[Entry, list[str]]:
        """A request that waits, and who has approved it."""
        with self.database.read() as session:
            dataset = session.get_one(Dataset, served.id)
            entry = store.entry(session, dataset, number)
            about = select(Entry).where(
                Entry.dataset_id == served.id,
                Entry.about == number,
                Entry.kind.in_([Kind.APPROVED, Kind.REJECTED]),
            )
            said = list(session.scalars(about))
        if (
            entry is None
            or entry.kind != Kind.REQUEST
            or entry.outcome != Outcome.PENDING
            or entry.about is not None
        ):
            raise DisclosureError(f"entry {number} is no pending request.")
        if any(one.outcome != Outcome.PENDING for one in said):
            raise DisclosureError(f"request {number} is decided already.")
        return entry, [one.actor for one in said if one.policy_version == dataset.policy_version]


def _decided(served: Served, entry: Entry, answer: Answer) -> Decided:
    near = tuple(names_of(served.table, s) for s in answer.near)
    return Decided(entry.number, answer.outcome, answer.why, tuple(entry.margin or ()), near)
