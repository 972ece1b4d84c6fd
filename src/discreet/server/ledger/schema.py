"""What the table server keeps: data sets, the entries about them, what is published, accounts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    Dialect,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    MetaData,
    Text,
    TypeDecorator,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from discreet.errors import LedgerError


class Damaged(LedgerError):
    """What is stored is not what was written: nothing is told or decided by it."""

    def __init__(self) -> None:
        super().__init__(
            "what is stored is not what was written; run `discreet ledger verify`, and restore the "
            "newest backup."
        )


class Kind(StrEnum):
    """What an entry of the ledger is about."""

    OPENED = "opened"  # a data set, with its terms
    PUBLISHED = "published"  # a margin that was chosen before: of the frontier
    REQUEST = "request"  # a request and what it got
    APPROVED = "approved"  # a pending request, by a custodian
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"  # a publication; what is out stays counted
    PROPOSED = "proposed"  # new terms, that another custodian must approve
    POLICY = "policy"  # new terms: another policy
    LISTED = "listed"  # new terms: what can be asked for
    CODEBOOK = "codebook"  # new terms: what the data mean, as a custodian accepted it
    TAKEN_OVER = "taken_over"  # the same, into the ledger of an earlier version; not checked
    CLOSED = "closed"


class Role(StrEnum):
    """What an account may do."""

    ANALYST = "analyst"
    CUSTODIAN = "custodian"
    AUDITOR = "auditor"


def canonical(value: object) -> str:
    """The one way to write a value as JSON.

    >>> canonical({"b": ["ä"], "a": 1})
    '{"a":1,"b":["\\\\u00e4"]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def now() -> str:
    """UTC, in microseconds: 2026-11-15T16:41:49.000123+00:00."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class Canonical(TypeDecorator[Any]):
    """A value kept as canonical JSON, the same text in every database."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else canonical(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        try:
            return None if value is None else json.loads(value)
        except ValueError:
            raise Damaged from None


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
        }
    )
    type_annotation_map = {str: Text}  # noqa: RUF012 as SQLAlchemy declares it


class Dataset(Base):
    """A table behind the server. Its terms change only with an entry that says so.

    `variables`: [{"name": "Race", "categories": ["White", ...]}, ...] in the order of the table;
    `frontier` and `listed`: margins as lists of names. The head is the last entry's number and
    hash, written with it.
    """

    __tablename__ = "datasets"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(unique=True)
    title: Mapped[str]
    opened_at: Mapped[str]
    fingerprint: Mapped[str]  # keyed: says whether the data are the same, and nothing else
    policy: Mapped[str]  # TOML
    policy_version: Mapped[int]
    frontier: Mapped[list[list[str]] | None] = mapped_column(Canonical)
    listed: Mapped[list[list[str]] | None] = mapped_column(Canonical)
    variables: Mapped[list[dict[str, Any]]] = mapped_column(Canonical)
    about: Mapped[dict[str, Any] | None] = mapped_column(Canonical, deferred=True)  # in words
    meaning: Mapped[str | None] = mapped_column(deferred=True)  # of the data, as it was accepted
    previous: Mapped[int | None] = mapped_column(ForeignKey("datasets.id"))  # the older vintage
    closed_at: Mapped[str | None]
    head_number: Mapped[int]
    head_hash: Mapped[str]

    def __repr__(self) -> str:
        return f"Dataset({self.slug!r}: {self.head_number} entries)"


class Entry(Base):
    """One line of a data set's ledger. Never changed, never deleted; holds no count.

    `about`: the number of the entry that is approved, rejected or withdrawn; `state`: hash of what
    is out after it; `terms`: those of the data set from here on, if they are new; `table_hash`:
    of what it published; `meaning`: hash of what the data mean, whose text is in the last terms
    that have it; `previous`: hash of the entry before.
    """

    __tablename__ = "entries"

    dataset_id: Mapped[int] = mapped_column(ForeignKey("datasets.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[str]
    kind: Mapped[str]
    actor: Mapped[str]  # a user's id, or "public"
    about: Mapped[int | None]
    margin: Mapped[list[str] | None] = mapped_column(Canonical)
    outcome: Mapped[str | None]
    why: Mapped[str | None]
    note: Mapped[str | None]
    policy_version: Mapped[int]
    state: Mapped[str]
    terms: Mapped[dict[str, Any] | None] = mapped_column(Canonical)
    table_hash: Mapped[str | None]
    meaning: Mapped[str | None]  # none in what earlier versions wrote
    previous: Mapped[str]
    hash: Mapped[str]

    def __repr__(self) -> str:
        what = "*".join(self.margin or ())
        return f"Entry({self.number} {self.kind} {what} {self.outcome or ''} {self.hash[:8]})"


class Publication(Base):
    """A margin that is out, by the entry that published it. Only its withdrawal can be added.

    `counts`: 64-bit, little-endian, dense in the order of the table, compressed by zlib.
    """

    __tablename__ = "publications"
    __table_args__ = (
        ForeignKeyConstraint(
            ["dataset_id", "entry_number"], ["entries.dataset_id", "entries.number"]
        ),
    )

    dataset_id: Mapped[int] = mapped_column(primary_key=True)
    entry_number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    margin: Mapped[list[str]] = mapped_column(Canonical)
    counts: Mapped[bytes]
    table_hash: Mapped[str]
    withdrawn_at: Mapped[str | None]
    withdrawn_why: Mapped[str | None]

    def __repr__(self) -> str:
        return f"Publication({'*'.join(self.margin)}, entry {self.entry_number})"


class User(Base):
    __tablename__ = "users"
    __table_args__ = (
        Index("ix_users_subject", "issuer", "subject", unique=True),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    role: Mapped[str]
    password_hash: Mapped[str | None]
    active: Mapped[bool]
    created_at: Mapped[str]
    email: Mapped[str | None]
    second_factor: Mapped[str | None]  # what a one-time password is made from, encrypted
    last_step: Mapped[int | None]  # of the last one-time password, which counts once
    issuer: Mapped[str | None]  # who vouches for the account instead of a password
    subject: Mapped[str | None]
    vouched_at: Mapped[str | None]  # the last time that they did
    wrong_codes: Mapped[int | None]  # one-time passwords in a row
    codes_from: Mapped[str | None]  # none is taken before


class Trail(Base):
    """One line about accounts: who did what, to whom, from where. Never changed, never deleted."""

    __tablename__ = "trail"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[str]
    kind: Mapped[str]
    actor: Mapped[str]
    about: Mapped[str | None]
    address: Mapped[str | None]
    note: Mapped[str | None]
    previous: Mapped[str]
    hash: Mapped[str]


class Mark(Base):
    """A word that the server keeps about its database: which secret, where the trail ends."""

    __tablename__ = "marks"

    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class ApiKey(Base):
    __tablename__ = "api_keys"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    name: Mapped[str]
    key_hash: Mapped[str] = mapped_column(unique=True)
    created_at: Mapped[str]
    revoked_at: Mapped[str | None]
    last_used_at: Mapped[str | None]


class Session(Base):
    """A login; `id` is the hash of what the cookie holds."""

    __tablename__ = "sessions"

    id: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[str]
    expires_at: Mapped[str]
    csrf: Mapped[str]
    passed_at: Mapped[str | None]  # the second factor
    offer: Mapped[str | None]  # a second factor that is being set up, encrypted


class Token(Base):
    """What counts once: an invitation, a recovery code, a login under way elsewhere.

    `id` is the hash of what the person holds.
    """

    __tablename__ = "tokens"

    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id"), index=True)
    value: Mapped[dict[str, Any] | None] = mapped_column(Canonical)
    created_at: Mapped[str]
    expires_at: Mapped[str | None]


class Notice(Base):
    """A message that is still to be sent: a letter to `recipient`, or without one to the hook."""

    __tablename__ = "notices"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012

    id: Mapped[int] = mapped_column(primary_key=True)
    created_at: Mapped[str]
    recipient: Mapped[str | None]
    content: Mapped[dict[str, Any]] = mapped_column(Canonical)
    tries: Mapped[int]
    next_at: Mapped[str]


class Use(Base):
    """How often something was done with a data set on a day."""

    __tablename__ = "uses"

    dataset_id: Mapped[int] = mapped_column(ForeignKey("datasets.id"), primary_key=True)
    day: Mapped[str] = mapped_column(primary_key=True)
    what: Mapped[str] = mapped_column(primary_key=True)
    n: Mapped[int]


class Rate(Base):
    """How much a client did within some seconds; `worker`: where, or "" for all together."""

    __tablename__ = "rates"

    client: Mapped[str] = mapped_column(primary_key=True)  # a keyed hash
    what: Mapped[str] = mapped_column(primary_key=True)
    slot: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    worker: Mapped[str] = mapped_column(primary_key=True)
    n: Mapped[int]


class Meter(Base):
    """What a worker has counted, for metrics."""

    __tablename__ = "meters"

    worker: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    labels: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[float]
