"""Vintages of one population: which data sets of the ledger are of the same people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from discreet.arrays import Floats
from discreet.decision.answering.relation import Axes, Relation, alike, by_names
from discreet.errors import LedgerError
from discreet.server.ledger import store
from discreet.server.ledger.schema import Damaged, Dataset
from discreet.table.table import Table

HALF = 0.5  # of all people: by more, one register does not change from vintage to vintage
CLOSE = 0.1  # of all people: how far shares are apart
NEAR = 20  # people
FEW = 4  # categories
OTHER = "If it is of other people, say --apart; the ledger keeps who said so."


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


def axes_of(dataset: Dataset) -> Axes:
    """Its variables and their categories."""
    try:
        return {variable["name"]: variable["categories"] for variable in dataset.variables}
    except (KeyError, TypeError):
        raise Damaged from None


def said_of(variables: Sequence[Mapping[str, Any]], relation: Relation) -> list[dict[str, Any]]:
    """Variables for the ledger, with what each was in the older vintage."""
    found = []
    for variable in variables:
        older, pairs = relation.variables.get(variable["name"], ("", {}))
        was = {"name": older, "categories": {c: sorted(others) for c, others in pairs.items()}}
        found.append({**variable, "was": was})
    return found


def related(session: Session, dataset: Dataset) -> dict[int, Relation]:
    """Of each vintage of its population: how the variables of this one relate to its own, step by
    step from vintage to vintage.
    """
    every = {one.id: one for one in (dataset, *vintages(session, dataset))}
    found = {dataset.id: by_names(axes_of(dataset), axes_of(dataset))}
    reached = [dataset]
    for one in reached:
        for other in every.values():
            if other.id in found:
                continue
            if one.previous == other.id:
                step = _stated(one, other)
            elif other.previous == one.id:
                step = _stated(other, one).reversed()
            else:
                continue
            found[other.id] = found[one.id].then(step)
            reached.append(other)
    return found


def _stated(newer: Dataset, older: Dataset) -> Relation:
    """What its ledger says of the older vintage; by names, where an earlier version opened it."""
    if not all("was" in variable for variable in newer.variables):
        return by_names(axes_of(newer), axes_of(older))
    return Relation(
        {
            variable["name"]: (
                variable["was"]["name"],
                {c: frozenset(own) for c, own in variable["was"]["categories"].items()},
            )
            for variable in newer.variables
            if variable["was"]["name"]
        }
    )


def check_new(
    session: Session,
    *,
    slug: str,
    table: Table,
    fingerprint: str,
    previous: str | None,
    apart: bool,
    served: Mapping[str, Table],
) -> None:
    """A new data set says whose vintage it is, or that its people are others, if the ledger has one
    that may be of the same people: by the names of variables or of categories, by the number of
    people, or by how many people the categories have. So does a vintage, of the data sets that are
    not its vintages and were not said to be of other people before.
    """
    every = list(session.scalars(select(Dataset).order_by(Dataset.id)))
    for known in every:
        if known.fingerprint == fingerprint:
            raise LedgerError(
                f"the data of {slug!r} are those of {known.slug!r}: two names would forget what "
                "is out under the other. Serve them under the one name."
            )
    named = None if previous is None else store.find_dataset(session, previous)
    if apart or (previous is not None and named is None):
        return
    family = [] if named is None else [named, *vintages(session, named)]
    asked = store.said_apart(session)
    mine = {alike(name) for name in table.names}
    for known in reversed(every):
        if known in family or any(max(one.id, known.id) in asked for one in family):
            continue
        theirs = {alike(name) for name in axes_of(known)}
        if not family and (mine <= theirs or theirs <= mine):
            raise LedgerError(
                f"{slug!r} has the variables of {known.slug!r}. If it is of the same people, say "
                f"so with --previous {known.slug}: both are then judged together. {OTHER}"
            )
        if like := _likeness(table, known, served.get(known.slug)):
            later = "" if family else f"; or say --previous {known.slug} if it is of a later time"
            raise LedgerError(
                f"{slug!r} has {like} in common with {known.slug!r}. If it is of the same people, "
                f"serve one data set with all variables, for what two tell together is not "
                f"judged{later}. {OTHER}"
            )
        if known.slug not in served:
            raise LedgerError(
                f"{slug!r} may be of the same people as {known.slug!r}, whose data are not served "
                f"here: serve them too (--datasets), so that both are compared. {OTHER}"
            )


def _likeness(table: Table, known: Dataset, other: Table | None) -> str:
    """What speaks for the same people; of data that are not served only names are known."""
    theirs = {alike(name) for name in axes_of(known)}
    if shared := [name for name in table.names if alike(name) in theirs]:
        return repr(shared[0])
    for name, categories in axes_of(known).items():
        labels = {alike(category) for category in categories}
        for variable in table.variables:
            if len(labels & {alike(category) for category in variable.categories}) >= FEW:
                return f"the categories of {variable.name!r} (as {name!r})"
    if other is None:
        return ""
    most = max(NEAR, HALF * max(table.total, other.total))
    if abs(table.total - other.total) <= most:
        return "about the number of people"
    for variable in table.variables:
        for theirs_too in other.variables:
            if _alike_shares(_shares(table, variable.name), _shares(other, theirs_too.name)):
                return f"the shares of {variable.name!r} (as {theirs_too.name!r})"
    return ""


def _shares(table: Table, name: str) -> Floats:
    """Of the people of each category that somebody has, the largest first."""
    counts = table.margin([name]).counts
    return -np.sort(-counts[counts > 0] / max(table.total, 1))


def _alike_shares(mine: Floats, theirs: Floats) -> bool:
    """With few categories shares are often alike by chance."""
    if len(mine) != len(theirs) or len(mine) < FEW:
        return False
    return bool(np.abs(mine - theirs).sum() / 2 <= CLOSE)
