"""What is out, read from the ledger alone: nothing here has the confidential table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from discreet.arrays import Ints
from discreet.decision.law.policy import Policy
from discreet.errors import DisclosureError, PolicyError
from discreet.server.deciding.terms import note_words
from discreet.server.ledger import store
from discreet.server.ledger.chain import GIVEN, SEARCHED
from discreet.server.ledger.database import Database
from discreet.server.ledger.schema import Damaged, Dataset, Entry, Publication, canonical
from discreet.server.showing.describe import Words


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
    words: Words = field(default_factory=Words)
    words_hash: str = ""
    searched: bool | None = None  # was the frontier found in the data; none where nobody said it

    @property
    def says(self) -> tuple[object, ...]:
        """What the files of its tables depend on besides the tables, for caches."""
        return self.title, self.note, self.policy_version, self.closed, self.words_hash

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.variables)

    def categories(self, name: str) -> tuple[str, ...]:
        return dict(self.variables)[name]

    def grouping(self, name: str, level: int) -> tuple[str, ...]:
        """The group of each category at a level, 1 the finest."""
        levels = self.words.variable(name).levels
        if not 1 <= level <= len(levels):
            has = f"it has 1 to {len(levels)}" if levels else "its categories cannot be merged"
            raise DisclosureError(f"{name} has no level {level}; {has}.")
        return levels[level - 1]

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
    of the question, for caches. `part`: variables of the entry's table were summed out. `levels`:
    variables whose categories are merged, and how far; `labels`: categories of an axis, where they
    are others than those of the data. `perturbed`: the margins that it keeps, if it is no count of
    the data; `entry` then says after which one they were out.
    """

    dataset: Overview
    names: tuple[str, ...]
    counts: Ints
    entry: int
    at: str
    hash: str
    where: Mapping[str, str] = field(default_factory=dict)
    part: bool = False
    levels: Mapping[str, int] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    perturbed: tuple[tuple[str, ...], ...] | None = None

    @property
    def categories(self) -> tuple[tuple[str, ...], ...]:
        return tuple(self.labels.get(name) or self.dataset.categories(name) for name in self.names)

    @property
    def titles(self) -> tuple[str, ...]:
        """What its variables are called."""
        return tuple(map(self.dataset.words.title, self.names))

    def picked(self, places: Mapping[str, Sequence[int]]) -> Published:
        """Some categories of some variables, by their places."""
        counts, labels = self.counts, dict(self.labels)
        for axis, (name, categories) in enumerate(zip(self.names, self.categories, strict=True)):
            if name in places:
                counts = counts.take(places[name], axis)
                labels[name] = tuple(categories[place] for place in places[name])
        return replace(self, counts=counts, labels=labels)

    def merged(self, levels: Mapping[str, int]) -> Published:
        """With categories added up to those of a coarser level of the codebook's hierarchy."""
        counts, labels = self.counts, dict(self.labels)
        for axis, name in enumerate(self.names):
            if name not in levels:
                continue
            groups = self.dataset.grouping(name, levels[name])
            kept = tuple(dict.fromkeys(groups))
            place = {group: place for place, group in enumerate(kept)}
            shape = (*counts.shape[:axis], len(kept), *counts.shape[axis + 1 :])
            sums = np.zeros(shape, np.int64)
            np.add.at(np.moveaxis(sums, axis, 0), [place[group] for group in groups],
                      np.moveaxis(counts, axis, 0))  # fmt: skip
            counts, labels[name] = sums, kept
        return replace(
            self,
            counts=counts,
            labels=labels,
            levels={name: levels[name] for name in self.names if name in levels},
            hash=_digest(self.hash, sorted(levels.items())) if levels else self.hash,
        )

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
        self._said: dict[int, tuple[str | None, Words, str]] = {}  # by what the data sets mean

    def datasets(self) -> list[Overview]:
        with self.database.read() as session:
            return [self._overview(session, dataset) for dataset in store.datasets(session)]

    def dataset(self, slug: str) -> Overview:
        with self.database.read() as session:
            return self._overview(session, self._find(session, slug))

    def margins(self, slug: str) -> list[tuple[str, ...]]:
        """Every margin that was published by itself and is served."""
        return [names for names, _, _ in self.listed(slug)]

    def listed(self, slug: str) -> list[tuple[tuple[str, ...], int, str]]:
        """The same, each with the entry that published it, and when."""
        with self.database.read() as session:
            found = select(Publication.margin, Publication.entry_number, Entry.at).join(
                Entry,
                (Entry.dataset_id == Publication.dataset_id)
                & (Entry.number == Publication.entry_number),
            )
            out = found.where(
                Publication.dataset_id == self._find(session, slug).id,
                Publication.withdrawn_at.is_(None),
            )
            rows = session.execute(out.order_by(Publication.entry_number))
            return [(tuple(margin), number, at) for margin, number, at in rows]

    def entry_margin(self, slug: str, entry: int) -> tuple[str, ...]:
        """The variables of the table that an entry of the ledger published."""
        with self.database.read() as session:
            found = session.get(Publication, (self._find(session, slug).id, entry))
            if found is None:
                raise NotPublished(f"entry {entry} of {slug} published no table.")
            return tuple(found.margin)

    def published(
        self,
        slug: str,
        names: Sequence[str],
        where: Mapping[str, str] | None = None,
        *,
        entry: int | None = None,
    ) -> Published:
        """The margin over `names`, cut to the categories that `where` names.

        It comes from the smallest published table that holds it, or from that of an `entry` of the
        ledger. A slice is of the margin over `names` and the variables of `where`, which must be
        out as a whole.
        """
        where = dict(where or {})
        with self.database.read() as session:
            dataset = self._find(session, slug)
            overview = self._overview(session, dataset)
            wanted = overview.ordered([*names, *where])
            publication = self._holder(session, dataset, wanted, entry)
            written = store.entry(session, dataset, publication.entry_number)
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
        return Published(
            overview,
            shown,
            np.asarray(counts[pick]),
            publication.entry_number,
            written.at if written else "",
            _digest(publication.table_hash, shown, sorted(where.items()), overview.says),
            where,
            bool(rest),
        )

    def _holder(
        self, session: Session, dataset: Dataset, wanted: Sequence[str], entry: int | None
    ) -> Publication:
        """The smallest published table that holds a margin; of an entry, if one is named."""
        everything = store.publications(session, dataset, withdrawn=True)
        if entry is not None:
            everything = [p for p in everything if p.entry_number == entry]
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
            _variables(dataset),
            policy,
            dataset.policy_version,
            dataset.head_number,
            dataset.closed_at is not None,
            None if older is None else older.slug,
            note_words(policy, map(_policy, before)),
            *self._words(session, dataset),
            self._searched(session, dataset, policy),
        )

    def _searched(self, session: Session, dataset: Dataset, policy: Policy) -> bool | None:
        """As the entry says that opened its ledger."""
        opened = store.entry(session, dataset, 1) if policy.server.rule == "static" else None
        said = opened.note or "" if opened is not None else ""
        return True if SEARCHED in said else False if GIVEN in said else None

    def _words(self, session: Session, dataset: Dataset) -> tuple[Words, str]:
        """They, and a hash of them, change only with what the data mean."""
        meaning = store.accepted(session, [dataset.slug]).get(dataset.slug)
        if dataset.id not in self._said or self._said[dataset.id][0] != meaning:
            self._said[dataset.id] = meaning, Words.of(dataset.about), _digest(dataset.about)
        return self._said[dataset.id][1:]


def _variables(dataset: Dataset) -> tuple[tuple[str, tuple[str, ...]], ...]:
    try:
        return tuple((v["name"], tuple(v["categories"])) for v in dataset.variables)
    except (KeyError, TypeError):
        raise Damaged from None


@lru_cache(64)
def _policy(text: str) -> Policy:
    try:
        return Policy.loads(text)
    except (PolicyError, ValueError):
        raise Damaged from None


def _digest(*parts: object) -> str:
    from hashlib import sha256

    return sha256(canonical(parts).encode()).hexdigest()[:32]
