"""Perturbed tables instead of refused ones: drawn from what is out, as the ledger has it.

Nothing here has the confidential table, and nothing is written: a perturbed table is no
publication. It is drawn once for what was out after an entry of the ledger, from a secret seed, so
that the same address always gives the same counts.
"""

from __future__ import annotations

import hmac
import math
import threading
import warnings
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from discreet.data.codebook import Variable
from discreet.decision.answering.answer import Why
from discreet.errors import ConvergenceWarning, DataError, DisclosureError, SolverError
from discreet.masks.perturb import Perturbed, perturb_release
from discreet.release.release import Release
from discreet.server.ledger import store
from discreet.server.ledger.database import Database
from discreet.server.ledger.meaning import stated
from discreet.server.ledger.schema import Dataset, Entry, Kind, Publication, canonical
from discreet.server.showing.catalogue import NotPublished, Overview, Published, Withdrawn
from discreet.spreading import workers
from discreet.table.formula import Formula
from discreet.table.impossible import Combination
from discreet.table.table import Table

INSTEAD = {Why.UNSAFE, Why.FRONTIER}  # refusals that the data are behind
EFFORT = 0.25
KEPT = 64  # tables that were drawn last
MOST = 64 << 20  # ... bytes of them, but the last one


class PerturbedTables:
    """Draws them, and keeps the last ones: who has many drawn displaces their own."""

    def __init__(self, database: Database, secret: bytes) -> None:
        self.database, self.secret = database, secret
        self._drawn: OrderedDict[tuple[str, int], tuple[Perturbed | str, str]] = OrderedDict()
        self._lock = threading.Lock()

    def newest(self, slug: str) -> int | None:
        """The last entry that changed what is out; None if nothing is."""
        with self.database.read() as session:
            dataset = store.find_dataset(session, slug)
            if dataset is None or not store.publications(session, dataset):
                return None
            return max(_changes(session, dataset))

    def margin(
        self,
        overview: Overview,
        number: int,
        names: Sequence[str],
        impossible: Sequence[Combination] = (),
        *,
        visitor: str = "",
    ) -> Published:
        """A margin of the table that keeps what was out after entry `number`; no count of the data.

        `impossible`: what the codebook says that nobody can have. A table is drawn by what it said
        when the entry was written. `visitor`: who has it drawn.
        """
        wanted = overview.ordered(names)
        if not offers(overview, wanted):
            raise NotPublished(f"no perturbed table of {'*'.join(wanted)} is offered.")
        with self.database.read() as session:
            dataset = session.get_one(Dataset, overview.id)
            basis = _basis(session, dataset, number)
            if any(set(wanted) <= set(p.margin) for p in basis):
                raise DisclosureError(
                    f"{'*'.join(wanted)} was published when entry {number} was written; read the "
                    "table itself."
                )
            written = store.entry(session, dataset, number)
            nobodys = _impossible(session, dataset, number, impossible)
            release = _release(overview, dataset, basis, nobodys)
            said = [overview.slug, number, [[p.margin, p.table_hash] for p in basis]]
        words = canonical(["perturbed", said])
        found = self._table(overview.slug, number, release, words, visitor)
        note = " ".join(found.said)
        title = f"{overview.title} (perturbed)"
        return Published(
            replace(overview, title=title, note=" ".join(filter(None, (note, overview.note)))),
            wanted,
            found.margin(wanted).dense(),
            number,
            written.at if written else "",
            sha256(canonical([said, wanted, note, overview.says]).encode()).hexdigest()[:32],
            perturbed=tuple(map(tuple, found.kept.margins)),
        )

    def _table(
        self, slug: str, number: int, release: Release, said: str, visitor: str
    ) -> Perturbed:
        with self._lock:
            found, whose = self._drawn.get((slug, number), (None, visitor))
        if found is None:
            found = _drawn(release, self._seed(said))
        with self._lock:
            self._drawn[slug, number] = found, whose
            self._drawn.move_to_end((slug, number))
            while len(self._drawn) > KEPT or (len(self._drawn) > 1 and self._bytes() > MOST):
                self._displace()
        if isinstance(found, str):
            raise NotPublished(f"no perturbed table of {slug} can be drawn: {found}")
        return found

    def _displace(self) -> None:
        """The oldest of whoever has the most."""
        ((most, _),) = Counter(visitor for _, visitor in self._drawn.values()).most_common(1)
        del self._drawn[next(key for key, (_, whose) in self._drawn.items() if whose == most)]

    def _bytes(self) -> int:
        drawn = (one for one, _ in self._drawn.values() if isinstance(one, Perturbed))
        return sum(one.codes.nbytes + one.counts.nbytes for one in drawn)

    def _seed(self, said: str) -> int:
        """Keyed, and made of what is public alone."""
        return int.from_bytes(hmac.new(self.secret, said.encode(), sha256).digest(), "little")


def offers(overview: Overview, names: Sequence[str]) -> bool:
    """Do the terms offer a perturbed table of so many cells?"""
    server = overview.policy.server
    size = math.prod(len(overview.categories(name)) for name in names)
    return bool(server.perturbed) and size <= server.cells


def _drawn(release: Release, seed: int) -> Perturbed | str:
    """The draw, or why there is none; no clock decides which."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is said in words
        try:
            with workers(1):  # the other cores are for others
                return perturb_release(release, seed=np.random.default_rng(seed), effort=EFFORT)
        except (DataError, SolverError) as error:
            return str(error)


def _impossible(
    session: Session, dataset: Dataset, number: int, now: Sequence[Combination]
) -> list[Combination]:
    """What nobody could have by the codebook of an entry; too many have only a hash there."""
    then, today = store.meaning_at(session, dataset, number), dataset.meaning
    if then is None or today is None or stated(then) == stated(today):
        return sorted(now)
    found = stated(then)
    if any("combinations" not in group for group in found):
        raise NotPublished(
            f"the codebook was changed since entry {number}, and the ledger has a hash of its "
            "combinations alone; ask again for a newer table."
        )
    cells = [(group["variables"], cell) for group in found for cell in group["combinations"]]
    return sorted(tuple(zip(names, cell, strict=True)) for names, cell in cells)


def _changes(session: Session, dataset: Dataset) -> dict[int, int | None]:
    """The entries that changed what is out, or the codebook; of a withdrawal, what it withdrew."""
    found = select(Entry.number, Entry.kind, Entry.about).where(
        Entry.dataset_id == dataset.id,
        Entry.table_hash.is_not(None) | Entry.kind.in_([Kind.WITHDRAWN, Kind.CODEBOOK]),
    )
    rows = session.execute(found.order_by(Entry.number))
    return {number: about if kind == Kind.WITHDRAWN else None for number, kind, about in rows}


def _basis(session: Session, dataset: Dataset, number: int) -> list[Publication]:
    """What was out after an entry; gone, if some of it was withdrawn since."""
    changes = _changes(session, dataset)
    everything = store.publications(session, dataset, withdrawn=True)
    before = {about for n, about in changes.items() if about is not None and n <= number}
    out = [p for p in everything if p.entry_number <= number and p.entry_number not in before]
    if number not in changes or not out:
        raise NotPublished(f"entry {number} of {dataset.slug} changed nothing that is out.")
    for p in out:
        if p.withdrawn_at is not None:
            raise Withdrawn(p.margin, p.withdrawn_why or "", p.withdrawn_at)
    return out


def _release(
    overview: Overview,
    dataset: Dataset,
    basis: Sequence[Publication],
    impossible: Sequence[Combination],
) -> Release:
    variables = {name: Variable(name, categories) for name, categories in overview.variables}
    largest = Formula.of([p.margin for p in basis], overview.names).frontier.margins
    tables = []
    for margin in largest:
        held = next(p for p in basis if set(p.margin) == set(margin))
        counts = store.counts_of(dataset, held)
        codes = np.argwhere(counts).astype(np.uint32)
        axes = [variables[name] for name in held.margin]
        tables.append(Table.from_cells(axes, codes, counts[tuple(codes.T)]))
    every = tuple(variables.values())
    nobody = np.zeros((0, len(every)), np.uint8)
    stated = Table(every, nobody, np.zeros(0, np.int64), impossible=tuple(impossible))
    return Release(every, tuple(tables)).excluding(stated)
