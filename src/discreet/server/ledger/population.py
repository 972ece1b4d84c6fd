"""Vintages of one population: which data sets of the ledger are of the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from discreet.errors import LedgerError
from discreet.server.ledger.schema import Dataset


def vintages(session: Session, dataset: Dataset) -> list[Dataset]:
    """The other vintages of its population, the oldest first: ancestors, heirs and siblings."""
    every = list(session.scalars(select(Dataset).order_by(Dataset.id)))
    found = {dataset.id}
    grown = True
    while grown:
        linked = {d.id for d in every if d.previous in found} | {
            d.previous for d in every if d.id in found and d.previous is not None
        }
        grown = not linked <= found
        found |= linked
    return [d for d in every if d.id in found and d.id != dataset.id]


def check_new(
    session: Session,
    *,
    slug: str,
    names: Sequence[str],
    fingerprint: str,
    previous: str | None,
    apart: bool,
    people: Mapping[str, int],
) -> None:
    """A new data set says whose vintage it is, if the ledger has one that looks like it: by a name
    of its variables, or by the number of `people`, of those that are served.
    """
    every = list(session.scalars(select(Dataset).order_by(Dataset.id)))
    for known in every:
        if known.fingerprint == fingerprint:
            raise LedgerError(
                f"the data of {slug!r} are those of {known.slug!r}: two names would forget what "
                "is out under the other. Serve them under the one name."
            )
    if previous is not None:
        if apart:
            raise LedgerError(f"{slug!r} is either a vintage of {previous!r}, or of other people.")
        return
    if apart:
        return
    other = "If it is of other people, say --apart; the ledger keeps who said so."
    for known in reversed(every):
        mine, theirs = set(names), {variable["name"] for variable in known.variables}
        if mine <= theirs or theirs <= mine:
            raise LedgerError(
                f"{slug!r} has the variables of {known.slug!r}. If it is of the same people, say "
                f"so with --previous {known.slug}: both are then judged together. {other}"
            )
        shared = [name for name in names if name in theirs]
        if shared or people.get(known.slug) == people[slug]:
            like = repr(shared[0]) if shared else "the number of people"
            raise LedgerError(
                f"{slug!r} has {like} in common with {known.slug!r}. If it is of the same people, "
                "serve one data set with all variables, for what two tell together is not judged; "
                f"or say --previous {known.slug} if it is of a later time. {other}"
            )
