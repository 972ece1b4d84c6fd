"""What keeps the server from deciding: nothing was told, nothing was kept; try again later."""

from __future__ import annotations

from sqlalchemy.exc import SQLAlchemyError

from discreet.errors import DisclosureError

SAID = (
    ("full", "the disk of the ledger is full; make room."),
    ("readonly", "the ledger cannot be written to; check its file, its folder and their owner."),
    ("read-only", "the ledger cannot be written to; check the database."),
    ("locked", "another program holds the ledger; wait, or end it."),
    ("i/o", "the disk of the ledger fails; check it."),
    ("malformed", "the file of the ledger is broken; restore the newest backup."),
)


class Unready(DisclosureError):
    """503: a sentence for whoever runs the server, and for whoever asks."""


def unready(error: SQLAlchemyError) -> Unready:
    """The cause in words, without what the database said."""
    said = str(getattr(error, "orig", None) or "").lower()
    for word, sentence in SAID:
        if word in said:
            return Unready(sentence)
    return Unready("the database does not answer.")
