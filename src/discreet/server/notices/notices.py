"""Who is told what: custodians that something waits for them, requesters what became of theirs.

The ledger is the queue. What new entries tell goes into the outbox in one transaction with a mark
of how far the ledger was read: a crash loses nothing, and no decision waits for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, or_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from discreet.decision.answering.answer import Outcome
from discreet.server.ledger import store
from discreet.server.ledger.database import Database
from discreet.server.ledger.schema import (
    Dataset,
    Entry,
    Kind,
    Mark,
    Notice,
    Role,
    User,
    canonical,
)
from discreet.server.people.register import moment

MARK = "notices"  # how far each ledger was read: {slug: number}
OLD = timedelta(days=3)  # what happened before is no news
Content = dict[str, Any]
Emails = Select[str | None]


def collect(database: Database, *, mail: bool, hook: bool, address: str, now: datetime) -> None:
    """Put what new entries tell into the outbox, as letters and for the hook."""
    if not _has_news(database):
        return
    with database.write() as session:
        read, first = _read(session)
        before = dict(read)
        for dataset in store.datasets(session):
            after = read.get(dataset.slug, 0)
            if first or dataset.head_number <= after:
                read[dataset.slug] = dataset.head_number
                continue
            new = store.entries(session, dataset, after=after, limit=1_000)
            for entry in new:
                if entry.at >= moment(now - OLD):
                    _tell(session, dataset, entry, mail, hook, address.rstrip("/"), moment(now))
            read[dataset.slug] = new[-1].number if new else after
        if first or read != before:
            store.mark(session, MARK, canonical(read))


def _has_news(database: Database) -> bool:
    """Looked up by reading alone: it is done every few seconds."""
    with database.read() as session:
        kept = session.scalar(select(Mark.value).where(Mark.name == MARK))
        heads = session.execute(select(Dataset.slug, Dataset.head_number))
        ends = {row.slug: row.head_number for row in heads}
    return not kept or json.loads(kept) != ends


def _read(session: Session) -> tuple[dict[str, int], bool]:
    """How far the ledgers were read, locked until the end; is it the first time?"""
    dialect = sqlite if session.get_bind().dialect.name == "sqlite" else postgresql
    begin = dialect.insert(Mark).values(name=MARK, value="")
    session.execute(begin.on_conflict_do_nothing())
    kept = session.scalar(select(Mark.value).where(Mark.name == MARK).with_for_update())
    return (json.loads(kept), False) if kept else ({}, True)


def _tell(
    session: Session,
    dataset: Dataset,
    entry: Entry,
    mail: bool,
    hook: bool,
    address: str,
    now: str,
) -> None:
    for content, people in _news(session, dataset, entry):
        content["address"] = f"{address}{content['address']}"
        to: list[str | None] = [None] if hook else []
        if mail:
            to += session.scalars(people.order_by(User.id)).all()
        session.add_all(
            Notice(created_at=now, recipient=one, content=content, tries=0, next_at=now)
            for one in to
        )


def _news(session: Session, dataset: Dataset, entry: Entry) -> Iterator[tuple[Content, Emails]]:
    """What an entry tells, and who is to know it."""
    request = entry.about or entry.number
    ticket, waits = f"/d/{dataset.slug}/requests/{request}", entry.outcome == Outcome.PENDING
    desk = f"/desk/{dataset.slug}/pending/{request}"
    if entry.kind == Kind.REQUEST and waits and entry.about is None:
        if request in {one.number for one in store.waiting(session, dataset.id)}:
            yield _content("waiting", dataset, entry, request, desk), _custodians()
    elif entry.kind == Kind.APPROVED and waits:
        yield _content("second", dataset, entry, request, desk), _custodians(but=entry.actor)
    elif entry.kind == Kind.PROPOSED:
        codebook = "codebook" in json.loads(entry.note or "{}")
        event, page = ("codebook", "codebook") if codebook else ("proposed", "policy")
        at = f"/desk/{dataset.slug}/{page}"
        yield _content(event, dataset, entry, None, at), _custodians(but=entry.actor)
    elif entry.kind in (Kind.APPROVED, Kind.REJECTED):
        event = "approved" if entry.kind == Kind.APPROVED else "rejected"
        yield _content(event, dataset, entry, request, ticket), _askers(session, dataset, request)


def _content(
    event: str, dataset: Dataset, entry: Entry, request: int | None, address: str
) -> Content:
    """Nothing but what the requester said, and where to look."""
    return {
        "event": event,
        "dataset": dataset.slug,
        "title": dataset.title,
        "margin": entry.margin,
        "request": request,
        "entry": entry.number,
        "at": entry.at,
        "address": address,
    }


def _custodians(but: str = "") -> Emails:
    found = select(User.email).where(User.active, User.email.is_not(None))
    found = found.where(User.role == Role.CUSTODIAN)
    return found.where(User.id != int(but)) if but.isdecimal() else found


def _askers(session: Session, dataset: Dataset, request: int) -> Emails:
    """Accounts that asked, also those whose request joined one that waited."""
    asked = select(Entry.actor).where(
        Entry.dataset_id == dataset.id,
        Entry.kind == Kind.REQUEST,
        or_(Entry.number == request, Entry.about == request),
    )
    ids = {int(actor) for actor in session.scalars(asked) if actor.isdecimal()}
    return select(User.email).where(User.id.in_(ids), User.active, User.email.is_not(None))
