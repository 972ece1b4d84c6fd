"""The trail: who did what with accounts and from where, a chain of hashes like the ledgers."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Any

from pydantic import Field
from sqlalchemy import or_, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from discreet.server.ledger.chain import START, ProblemView, missing_guards
from discreet.server.ledger.schema import Mark, Trail, canonical, now
from discreet.server.showing.shapes import View

HEAD = "trail"  # the mark that says where it ends, NUMBER:HASH
GUARDS = {"trail_is_not_updated", "trail_is_not_deleted"}
LONGEST = 300  # characters of a note


class Event(StrEnum):
    """What an entry of the trail is about."""

    CREATED = "created"  # an account
    ROLE = "role"
    CLOSED = "closed"
    OPENED = "opened"
    EMAIL = "email"
    PASSWORD = "password"
    INVITED = "invited"
    INVITATION_USED = "invitation_used"
    KEY_MADE = "key_made"
    KEY_REVOKED = "key_revoked"
    LOGIN = "login"
    LOGOUT = "logout"
    FACTOR_SET = "factor_set"
    FACTOR_REMOVED = "factor_removed"
    RECOVERY_CODES = "recovery_codes"  # new ones
    RECOVERY_USED = "recovery_used"
    LOGIN_FAILED = "login_failed"
    CODE_FAILED = "code_failed"
    KEY_FAILED = "key_failed"
    REFUSED = "refused"  # what the role may not do
    LEFT_OUT = "left_out"  # how many failures of a minute were not written


class TrailProblem(ProblemView):
    pass


class TrailVerification(View):
    holds: bool
    entries: int
    head: str = Field(description="NUMBER:HASH. Note it elsewhere.")
    problems: list[TrailProblem]


def append(
    session: Session,
    kind: Event,
    *,
    actor: str,
    about: str | None = None,
    address: str | None = None,
    note: str | None = None,
    at: str | None = None,
) -> Trail:
    """The next entry, and the new head; the last step of a transaction, which it makes wait."""
    session.flush()
    head = _head(session)
    number, _, before = head.value.partition(":")
    entry = Trail(
        number=int(number) + 1,
        at=at or now(),
        kind=Event(kind).value,
        actor=_clean(actor),
        about=None if about is None else _clean(about),
        address=None if address is None else _clean(address),
        note=None if note is None else _clean(note),
        previous=before,
    )
    entry.hash = _hash({c.name: getattr(entry, c.name) for c in Trail.__table__.columns})
    head.value = f"{entry.number}:{entry.hash}"
    session.add(entry)
    session.flush()
    return entry


def entries(
    session: Session,
    *,
    kind: str | None = None,
    account: str | None = None,
    before: int | None = None,
    limit: int,
) -> list[Trail]:
    """The newest first, those before a number; by or about an account."""
    found = select(Trail).order_by(Trail.number.desc()).limit(limit)
    if kind is not None:
        found = found.where(Trail.kind == kind)
    if account is not None:
        found = found.where(or_(Trail.actor == account, Trail.about == account))
    if before is not None:
        found = found.where(Trail.number < before)
    return list(session.scalars(found))


def verify_trail(session: Session, *, head: str | None = None) -> TrailVerification:
    """Look at every entry; `head` is one that was noted before, NUMBER:HASH."""
    problems = list[TrailProblem]()

    def note(what: str, entry: int | None = None) -> None:
        problems.append(TrailProblem(entry=entry, what=what))

    for name in missing_guards(session, GUARDS):
        note(f"the database does not see to it that {name.replace('_', ' ')}.")
    number, before, heads = 0, START, {f"0:{START}"}
    rows = select(*Trail.__table__.columns).order_by(Trail.number)
    for row in session.execute(rows, execution_options={"yield_per": 500}):
        stored = dict(row._mapping)
        number += 1
        if stored["number"] != number:
            note(f"there is {stored['number']} instead.", number)
            number = stored["number"] if isinstance(stored["number"], int) else number
        if stored["previous"] != before:
            note("it does not follow the entry before.", number)
        if not _matches(stored):
            note("it was changed: its hash is another.", number)
        before = stored["hash"]
        heads.add(f"{number}:{before}")
    mark = session.scalar(select(Mark.value).where(Mark.name == HEAD))
    if (mark or f"0:{START}") != f"{number}:{before}":
        said = mark.partition(":")[0] if mark else "nowhere"
        note(f"the trail ends at entry {number}; it should at {said}, as it was.")
    if head is not None and head not in heads:
        note(f"the trail does not go through {head}.")
    return TrailVerification(
        holds=not problems, entries=number, head=f"{number}:{before}", problems=problems
    )


def _head(session: Session) -> Mark:
    """Locked until the end of the transaction."""
    found = select(Mark).where(Mark.name == HEAD).with_for_update()
    found = found.execution_options(populate_existing=True)
    head = session.scalar(found)
    if head is None:  # the first entry; another may be the first at the same time
        dialect = sqlite if session.get_bind().dialect.name == "sqlite" else postgresql
        first = dialect.insert(Mark).values(name=HEAD, value=f"0:{START}")
        session.execute(first.on_conflict_do_nothing())
        head = session.scalars(found).one()
    return head


def _matches(stored: Mapping[str, Any]) -> bool:
    try:
        return bool(_hash(stored) == stored["hash"])
    except TypeError:  # bytes where text should be
        return False


def _hash(stored: Mapping[str, Any]) -> str:
    said = {k: v for k, v in stored.items() if v is not None and k != "hash"}
    return sha256(canonical({"trail": said}).encode()).hexdigest()


def _clean(text: str) -> str:
    """Text that every database keeps as it is: what was tried can be anything."""
    return "".join(c if c.isprintable() else "?" for c in text[:LONGEST])
