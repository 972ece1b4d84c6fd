"""Adding to a ledger and reading from it. All writing is within `Database.begin` or `transact`."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sqlalchemy import select
from sqlalchemy.orm import Session

from discreet.arrays import Ints
from discreet.errors import LedgerError
from discreet.server.ledger import tallies
from discreet.server.ledger.chain import START, entry_hash, shape_of, table_hash, terms_of
from discreet.server.ledger.meaning import hash_of
from discreet.server.ledger.schema import (
    Damaged,
    Dataset,
    Entry,
    Kind,
    Mark,
    Publication,
    Use,
    canonical,
    now,
)

NEW_TERMS = {
    Kind.OPENED,
    Kind.POLICY,
    Kind.LISTED,
    Kind.CODEBOOK,
    Kind.TAKEN_OVER,
    Kind.CLOSED,
}


def open_dataset(
    session: Session,
    *,
    slug: str,
    title: str,
    fingerprint: str,
    policy: str,
    variables: Sequence[Mapping[str, Any]],
    frontier: Sequence[Sequence[str]] | None = None,
    listed: Sequence[Sequence[str]] | None = None,
    previous: int | None = None,
    about: Mapping[str, Any] | None = None,
    meaning: str | None = None,
    actor: str = "public",
    state: str = "",
    note: str | None = None,
) -> Dataset:
    """A new data set, with the entry that opens its ledger."""
    if find_dataset(session, slug) is not None:
        raise LedgerError(f"there is a data set {slug!r} already; choose another name.")
    dataset = Dataset(
        slug=_text(slug),
        title=_text(title),
        opened_at=now(),
        fingerprint=fingerprint,
        policy=_text(policy),
        policy_version=1,
        frontier=None if frontier is None else [list(margin) for margin in frontier],
        listed=None if listed is None else [list(margin) for margin in listed],
        variables=[dict(variable) for variable in variables],
        about=None if about is None else dict(about),
        meaning=meaning,
        previous=previous,
        closed_at=None,
        head_number=0,
        head_hash=START,
    )
    session.add(dataset)
    append(session, dataset, kind=Kind.OPENED, actor=actor, state=state, note=note)
    return dataset


def append(
    session: Session,
    dataset: Dataset,
    *,
    kind: Kind,
    actor: str,
    state: str,
    margin: Sequence[str] | None = None,
    outcome: str | None = None,
    why: str | None = None,
    note: str | None = None,
    about: int | None = None,
    table_hash: str | None = None,
    at: str | None = None,
) -> Entry:
    """The next entry, and the new head, of a data set's ledger; `at` is now, unless it is given.

    Change a data set's terms (policy, policy_version, listed, meaning, closed_at) before the entry
    that says so: it keeps them.
    """
    session.flush()
    session.refresh(dataset, with_for_update=True)
    kind = Kind(kind)
    entry = Entry(
        dataset_id=dataset.id,
        number=dataset.head_number + 1,
        at=at or now(),
        kind=kind.value,
        actor=_text(actor),
        about=about,
        margin=None if margin is None else list(margin),
        outcome=None if outcome is None else str(outcome),
        why=None if why is None else str(why),
        note=None if note is None else _text(note),
        policy_version=dataset.policy_version,
        state=state,
        terms=terms_of(session, dataset) if kind in NEW_TERMS else None,
        table_hash=table_hash,
        meaning=meaning_of(dataset),
        previous=dataset.head_hash,
    )
    entry.hash = entry_hash(entry, dataset.slug)
    dataset.head_number, dataset.head_hash = entry.number, entry.hash
    session.add(entry)
    session.flush()
    return entry


def publish(
    session: Session,
    dataset: Dataset,
    counts: ArrayLike,
    *,
    margin: Sequence[str],
    actor: str,
    state: str,
    kind: Kind = Kind.REQUEST,
    why: str | None = None,
    note: str | None = None,
    about: int | None = None,
    at: str | None = None,
) -> Publication:
    """An entry that grants a margin, and its counts, in the order of the table."""
    cells = np.ascontiguousarray(counts, "<i8")
    if cells.shape != shape_of(dataset.variables, margin):
        raise LedgerError(f"the counts of {'*'.join(margin)} have the shape {cells.shape}.")
    raw = cells.tobytes()
    entry = append(
        session,
        dataset,
        kind=kind,
        actor=actor,
        state=state,
        margin=margin,
        outcome="granted",
        why=why,
        note=note,
        about=about,
        at=at,
        table_hash=table_hash(dataset.variables, margin, raw),
    )
    publication = Publication(
        dataset_id=dataset.id,
        entry_number=entry.number,
        margin=list(margin),
        counts=zlib.compress(raw),
        table_hash=entry.table_hash,
    )
    session.add(publication)
    session.flush()
    return publication


def withdraw(
    session: Session,
    dataset: Dataset,
    publication: Publication,
    *,
    actor: str,
    state: str,
    why: str,
) -> Entry:
    """An entry that withdraws a publication; both keep the reason."""
    publication = session.merge(publication)
    session.refresh(publication)
    if publication.withdrawn_at is not None:
        raise LedgerError(f"{'*'.join(publication.margin)} is withdrawn already.")
    entry = append(
        session,
        dataset,
        kind=Kind.WITHDRAWN,
        actor=actor,
        state=state,
        margin=publication.margin,
        note=why,
        about=publication.entry_number,
    )
    publication.withdrawn_at, publication.withdrawn_why = entry.at, why
    session.flush()
    return entry


def meaning_of(dataset: Dataset) -> str | None:
    """The hash of what its data mean, as it was accepted last."""
    return None if dataset.meaning is None else hash_of(dataset.meaning)


def has_its_terms(session: Session, dataset: Dataset) -> bool:
    """Are its terms those of the last entry that says them?"""
    found = select(Entry.terms).where(Entry.dataset_id == dataset.id, Entry.terms.is_not(None))
    terms = session.scalar(found.order_by(Entry.number.desc()).limit(1))
    return canonical(terms) == canonical(terms_of(session, dataset))


def meaning_at(session: Session, dataset: Dataset, number: int) -> str | None:
    """The text of what the data meant when an entry was written; None in an old ledger."""
    found = select(Entry.terms).where(
        Entry.dataset_id == dataset.id, Entry.number <= number, Entry.kind.in_(NEW_TERMS)
    )
    terms = session.scalar(found.order_by(Entry.number.desc()).limit(1)) or {}
    text: str | None = terms.get("meaning")
    return text


def accepted(session: Session, slugs: Sequence[str]) -> dict[str, str | None]:
    """The same of several data sets, by their last entries."""
    last = (Entry.dataset_id == Dataset.id) & (Entry.number == Dataset.head_number)
    found = select(Dataset.slug, Entry.meaning).join(Entry, last).where(Dataset.slug.in_(slugs))
    return {row.slug: row.meaning for row in session.execute(found)}


def find_dataset(session: Session, slug: str) -> Dataset | None:
    return session.scalar(select(Dataset).where(Dataset.slug == slug))


def slugs(session: Session) -> list[str]:
    """The names of all data sets, the oldest first."""
    return list(session.scalars(select(Dataset.slug).order_by(Dataset.id)))


def said_apart(session: Session) -> set[int]:
    """The data sets that were said, when they were opened, to be of other people than the rest."""
    found = select(Entry.dataset_id).where(Entry.kind == Kind.OPENED, Entry.note.is_not(None))
    return set(session.scalars(found))


def datasets(session: Session) -> list[Dataset]:
    return list(session.scalars(select(Dataset).order_by(Dataset.id)))


def entries(
    session: Session, dataset: Dataset, after: int = 0, limit: int | None = None
) -> list[Entry]:
    """Those with larger numbers than `after`, in order."""
    found = select(Entry).where(Entry.dataset_id == dataset.id, Entry.number > after)
    return list(session.scalars(found.order_by(Entry.number).limit(limit)))


def policies_before(session: Session, dataset: Dataset) -> list[str]:
    """The policies under which something went out, as TOML."""
    granted = select(Entry.policy_version).where(
        Entry.dataset_id == dataset.id, Entry.table_hash.is_not(None)
    )
    found = select(Entry.terms).where(
        Entry.dataset_id == dataset.id,
        Entry.kind.in_([Kind.OPENED, Kind.POLICY]),
        Entry.policy_version.in_(granted),
    )
    return [str(terms["policy"]) for terms in session.scalars(found) if terms]


def entry(session: Session, dataset: Dataset, number: int) -> Entry | None:
    return session.get(Entry, (dataset.id, number))


def publications(
    session: Session, dataset: Dataset, *, after: int = 0, withdrawn: bool = False
) -> list[Publication]:
    """Those of entries after a number, in order; the withdrawn ones only if asked for."""
    found = select(Publication).where(
        Publication.dataset_id == dataset.id, Publication.entry_number > after
    )
    if not withdrawn:
        found = found.where(Publication.withdrawn_at.is_(None))
    return list(session.scalars(found.order_by(Publication.entry_number)))


def counts_of(dataset: Dataset, publication: Publication) -> Ints:
    """The published counts, an axis for each variable of the margin; none but those written."""
    try:
        shape = shape_of(dataset.variables, publication.margin)
        raw = zlib.decompress(publication.counts)
        if table_hash(dataset.variables, publication.margin, raw) == publication.table_hash:
            return np.frombuffer(raw, "<i8").reshape(shape).astype(np.int64)
    except (zlib.error, LedgerError, ValueError, TypeError, KeyError):
        pass
    raise Damaged


def waiting(session: Session, dataset_id: int) -> list[Entry]:
    """Requests that wait for a custodian, once each."""
    decided = select(Entry.about).where(
        Entry.dataset_id == dataset_id,
        Entry.kind.in_([Kind.APPROVED, Kind.REJECTED]),
        Entry.outcome != "pending",
        Entry.about.is_not(None),
    )
    found = select(Entry).where(
        Entry.dataset_id == dataset_id,
        Entry.kind == Kind.REQUEST,
        Entry.outcome == "pending",
        Entry.about.is_(None),
        Entry.number.not_in(decided),
    )
    return list(session.scalars(found.order_by(Entry.number)))


def proposals(session: Session, dataset: Dataset) -> list[tuple[Entry, dict[str, Any], str]]:
    """Changes, and why, that a custodian proposed under the policy as it is."""
    found = select(Entry).where(
        Entry.dataset_id == dataset.id,
        Entry.kind == Kind.PROPOSED,
        Entry.policy_version == dataset.policy_version,
    )
    rows = [(entry, json.loads(entry.note or "{}")) for entry in
            session.scalars(found.order_by(Entry.number))]  # fmt: skip
    return [(entry, said["changes"], said["note"]) for entry, said in rows if "changes" in said]


def codebook_proposals(
    session: Session, dataset: Dataset, *, after: int
) -> list[tuple[Entry, str]]:
    """The hashes of what the data are to mean, that custodians proposed after an entry."""
    found = select(Entry).where(
        Entry.dataset_id == dataset.id, Entry.kind == Kind.PROPOSED, Entry.number > after
    )
    rows = [(entry, json.loads(entry.note or "{}")) for entry in
            session.scalars(found.order_by(Entry.number))]  # fmt: skip
    return [(entry, said["codebook"]) for entry, said in rows if "codebook" in said]


def mark(session: Session, name: str, value: str) -> None:
    """Keep a word about the database. Within `Database.write`."""
    session.merge(Mark(name=name, value=value))


def use(session: Session, dataset_id: int, what: str, n: int = 1) -> None:
    """Something was done with a data set today, `n` times more. Within `Database.write`."""
    day = datetime.now(UTC).date().isoformat()
    tallies.add(session, Use, "n", n, dataset_id=dataset_id, day=day, what=what)


def uses(session: Session, dataset: Dataset) -> list[Use]:
    found = select(Use).where(Use.dataset_id == dataset.id)
    return list(session.scalars(found.order_by(Use.day, Use.what)))


def _text(text: str) -> str:
    """Text that every database keeps as it is."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise LedgerError("a text has characters that are none; remove them.") from None
    if "\0" in text:
        raise LedgerError("a text holds the character 0; remove it.")
    return text
