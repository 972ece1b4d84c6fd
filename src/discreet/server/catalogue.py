"""What is out, read from the ledger alone: nothing here has the confidential table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from discreet.decision.policy import Policy
from discreet.errors import DisclosureError
from discreet.server.ledger import store
from discreet.server.ledger.database import Database
from discreet.server.ledger.schema import Dataset, Publication
from discreet.server.terms import note_words

Ints = NDArray[np.int64]


class NotPublished(DisclosureError):
    """The table is not out."""


class Withdrawn(DisclosureError):
    """The table was out; `why` says why it is not any more."""

    def __init__(self, margin: Sequence[str], why: str, at: str) -> None:
        super().__init__(f"{'*'.join(margin)} was withdrawn: {why}")
        self.margin, self.why, self.at = tuple(margin), why, at


class UnknownDataset(DisclosureError):
    """No such data set."""


@dataclass(frozen=True)
class Overview:
    """A data set as the public sees it."""

    id: int
    slug: str
    title: str
    opened_at: str
    variables: tuple[tuple[str, tuple[str, ...]], ...]
    policy: Policy
    policy_version: int
    head: int
    closed: bool
    previous: str | None
    note: str | None = None  # what is said first, where less than whole tables was proof

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.variables)

    def categories(self, name: str) -> tuple[str, ...]:
        return dict(self.variables)[name]

    def ordered(self, names: Sequence[str]) -> tuple[str, ...]:
        """The variables in the order of the table; unknown or no names are refused."""
        if odd := [name for name in names if name not in self.names]:
            raise DisclosureError(
                f"{self.slug} has no variable {odd[0]!r}; it has {', '.join(self.names)}."
            )
        if not names:
            raise DisclosureError("name at least one variable.")
        return tuple(name for name in self.names if name in names)


@dataclass(frozen=True, eq=False)
class Published:
    """A table that is out, or a slice of one: counts, an axis for each of `names`.

    `entry` and `at`: the ledger's entry that it comes from, and when that was; `hash` is of it and
    of the question, for caches.
    """

    dataset: Overview
    names: tuple[str, ...]
    counts: Ints
    entry: int
    at: str
    hash: str
    where: Mapping[str, str] = field(default_factory=dict)

    @property
    def categories(self) -> tuple[tuple[str, ...], ...]:
        return tuple(self.dataset.categories(name) for name in self.names)

    @property
    def total(self) -> int:
        return int(self.counts.sum())

    def rows(self) -> list[dict[str, Any]]:
        """One a cell: its categories and its count."""
        cells = np.ndindex(*self.counts.shape)
        return [
            dict(
                zip(
                    self.names,
                    (c[i] for c, i in zip(self.categories, at, strict=True)),
                    strict=True,
                )
            )
            | {"count": int(self.counts[at])}
            for at in cells
        ]


class Catalogue:
    """Data sets and published tables."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def datasets(self) -> list[Overview]:
        with self.database.read() as session:
            return [self._overview(session, dataset) for dataset in store.datasets(session)]

    def dataset(self, slug: str) -> Overview:
        with self.database.read() as session:
            return self._overview(session, self._find(session, slug))

    def margins(self, slug: str) -> list[tuple[str, ...]]:
        """Every margin that was published by itself and is served."""
        with self.database.read() as session:
            found = store.publications(session, self._find(session, slug))
            return [tuple(publication.margin) for publication in found]

    def published(
        self, slug: str, names: Sequence[str], where: Mapping[str, str] | None = None
    ) -> Published:
        """The margin over `names`, cut to the categories that `where` names.

        It comes from the smallest published table that holds it. A slice is of the margin over
        `names` and the variables of `where`, which must be out as a whole.
        """
        where = dict(where or {})
        with self.database.read() as session:
            dataset = self._find(session, slug)
            overview = self._overview(session, dataset)
            wanted = overview.ordered([*names, *where])
            publication = self._holder(session, dataset, wanted)
            entry = store.entry(session, dataset, publication.entry_number)
            counts = store.counts_of(dataset, publication)
        rest = tuple(i for i, name in enumerate(publication.margin) if name not in wanted)
        counts = counts.sum(rest)
        for name in [name for name in wanted if name in where]:
            categories = overview.categories(name)
            if where[name] not in categories:
                raise DisclosureError(
                    f"{name} has no category {where[name]!r}; it has {', '.join(categories)}."
                )
        pick = tuple(
            overview.categories(name).index(where[name]) if name in where else slice(None)
            for name in wanted
        )
        shown = tuple(name for name in wanted if name not in where)
        if not shown:
            raise DisclosureError("a slice must leave at least one variable.")
        asked = "*".join(shown) + "|" + "|".join(f"{k}={v}" for k, v in sorted(where.items()))
        return Published(
            overview,
            shown,
            np.asarray(counts[pick]),
            publication.entry_number,
            entry.at if entry else "",
            _digest(publication.table_hash, asked, overview.note or ""),
            where,
        )

    def _holder(self, session: Session, dataset: Dataset, wanted: Sequence[str]) -> Publication:
        """The smallest published table that holds a margin."""
        everything = store.publications(session, dataset, withdrawn=True)
        holding = [p for p in everything if set(wanted) <= set(p.margin)]
        out = [p for p in holding if p.withdrawn_at is None]
        if out:
            return min(out, key=lambda p: (len(p.margin), p.entry_number))
        if holding:
            last = max(holding, key=lambda p: p.withdrawn_at or "")
            raise Withdrawn(wanted, last.withdrawn_why or "", last.withdrawn_at or "")
        raise NotPublished(f"{'*'.join(wanted)} is not published.")

    def _find(self, session: Session, slug: str) -> Dataset:
        found = store.find_dataset(session, slug)
        if found is None:
            raise UnknownDataset(f"there is no data set {slug!r}.")
        return found

    def _overview(self, session: Session, dataset: Dataset) -> Overview:
        older = None if dataset.previous is None else session.get(Dataset, dataset.previous)
        policy = _policy(dataset.policy)
        before = store.policies_before(session, dataset) if dataset.policy_version > 1 else []
        return Overview(
            dataset.id,
            dataset.slug,
            dataset.title,
            dataset.opened_at,
            tuple((v["name"], tuple(v["categories"])) for v in dataset.variables),
            policy,
            dataset.policy_version,
            dataset.head_number,
            dataset.closed_at is not None,
            None if older is None else older.slug,
            note_words(policy, map(_policy, before)),
        )


@lru_cache(64)
def _policy(text: str) -> Policy:
    return Policy.loads(text)


def _digest(*parts: str) -> str:
    from hashlib import sha256

    return sha256("\0".join(parts).encode()).hexdigest()[:32]
