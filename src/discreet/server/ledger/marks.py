"""Words that the server keeps about its database: which secret its fingerprints were keyed with."""

from __future__ import annotations

import hmac
from hashlib import sha256

from sqlalchemy import select
from sqlalchemy.orm import Session

from discreet.errors import LedgerError
from discreet.server.ledger.schema import Dataset, Mark

SECRET = "secret"
OTHER_SECRET = (
    "the secret is not the one that this ledger was made with; set DISCREET_SECRET, or put the "
    "file DATABASE.secret back beside the database. Do not open the data under another name: what "
    "is out would be forgotten. If the secret is lost for good, the ledger can be read, and "
    "nothing more can be decided with it."
)


def mark_of(secret: bytes) -> str:
    """Says whether a secret is the same, and nothing else."""
    return hmac.new(secret, b"discreet: which secret", sha256).hexdigest()


def check_secret(session: Session, secret: bytes) -> None:
    """Raise if the ledger was made with another secret, as far as it says so."""
    known = session.get(Mark, SECRET)
    if known is not None and not hmac.compare_digest(known.value, mark_of(secret)):
        raise LedgerError(OTHER_SECRET)


def keep_secret(session: Session, secret: bytes, *, proven: bool = False) -> None:
    """Note it, once; in a ledger that is in use only if it is `proven` to be its own."""
    check_secret(session, secret)
    if session.get(Mark, SECRET) is None:
        if in_use(session) and not proven:
            raise LedgerError(
                "the ledger does not say yet which secret it was made with; serve one of its data "
                "sets too, so that the secret can be checked."
            )
        session.add(Mark(name=SECRET, value=mark_of(secret)))


def in_use(session: Session) -> bool:
    """Does the database need the secret that it was made with?"""
    return session.scalar(select(Dataset.id).limit(1)) is not None
