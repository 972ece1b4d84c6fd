"""The chain of hashes through a ledger, and whether it still holds.

Each entry's hash is taken over all that the entry says and the hash of the entry before, so that
whoever changes, removes, swaps or adds one must rewrite all that follow. Whoever rewrites
everything, and the head, is only found by a head that was noted elsewhere before: an export, or
what `verify` printed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import prod
from typing import Any

from pydantic import Field
from sqlalchemy import Row, Select, Text, select, text, type_coerce
from sqlalchemy.orm import Session

from discreet.errors import LedgerError
from discreet.server.ledger.meaning import Meaning
from discreet.server.ledger.schema import (
    Base,
    Canonical,
    Dataset,
    Entry,
    Kind,
    Publication,
    canonical,
)
from discreet.server.showing.shapes import View

START = "0" * 64  # before the first entry
OUTSIDE = {"dataset_id", "hash"}  # of an entry: not hashed
TERMS = (
    "title",
    "opened_at",
    "fingerprint",
    "policy",
    "policy_version",
    "frontier",
    "listed",
    "variables",
    "closed_at",
)
NEWER = (
    "about",
    "meaning",
)  # not said by entries of older ledgers, nor where there is nothing to say
APART = "Said to be of other people than other data sets."
GIVEN = "The frontier was given."
SEARCHED = "The frontier was searched for in the data."
TAKEN_OVER = "What the data mean was taken over as it was served then, and not checked."
GUARDS = {
    "entries_are_not_updated",
    "entries_are_not_deleted",
    "publications_are_not_updated",
    "publications_are_withdrawn_once",
    "publications_are_not_deleted",
    "datasets_are_not_deleted",
    "trail_is_not_updated",
    "trail_is_not_deleted",
}


class ProblemView(View):
    entry: int | None
    what: str

    def __str__(self) -> str:
        return self.what if self.entry is None else f"entry {self.entry}: {self.what}"


class VerificationView(View):
    dataset: str
    holds: bool
    entries: int
    publications: int
    head: str
    problems: list[ProblemView]
    notes: list[str] = Field(description="What the data meant when, where that changed.")


@dataclass(frozen=True)
class Reading:
    """What an entry says of what the data mean: sentences, each for a change; how it came to it."""

    number: int
    at: str
    actor: str
    note: str | None
    says: tuple[str, ...]

    def __str__(self) -> str:
        why = f" ({self.note})" if self.note else ""
        who = f"account {self.actor}" if self.actor.isdecimal() else self.actor
        return f"entry {self.number}, {self.at[:10]}, {who}{why}: {' '.join(self.says)}"


def entry_hash(entry: Entry, slug: str) -> str:
    """SHA-256 over the canonical JSON of all that an entry says, and of which data set."""
    stored = {
        column.name: canonical(value) if isinstance(column.type, Canonical) else value
        for column in Entry.__table__.columns
        if (value := getattr(entry, column.name)) is not None
    }
    return stored_hash(stored, slug)


def stored_hash(stored: Mapping[str, Any], slug: str) -> str:
    """The same, from the columns as the database has them, JSON as text; what is null is left out.

    >>> stored_hash({"number": 1, "kind": "opened", "note": None, "previous": START}, "tract")[:8]
    '1deb0959'
    """
    said = {k: v for k, v in stored.items() if v is not None and k not in OUTSIDE}
    return sha256(canonical(said | {"dataset": slug}).encode()).hexdigest()


def table_hash(variables: Sequence[Mapping[str, Any]], margin: Sequence[str], raw: bytes) -> str:
    """SHA-256 over names, categories and counts (64-bit, little-endian) of a published margin."""
    chosen = [[v["name"], v["categories"]] for v in _chosen(variables, margin)]
    return sha256(canonical(chosen).encode() + b"\n" + raw).hexdigest()


def shape_of(variables: Sequence[Mapping[str, Any]], margin: Sequence[str]) -> tuple[int, ...]:
    return tuple(len(v["categories"]) for v in _chosen(variables, margin))


def _chosen(
    variables: Sequence[Mapping[str, Any]], margin: Sequence[str]
) -> list[Mapping[str, Any]]:
    chosen = [variable for variable in variables if variable["name"] in margin]
    names = [variable["name"] for variable in chosen]
    if list(margin) != names:
        order = ", ".join(variable["name"] for variable in variables)
        raise LedgerError(f"{list(margin)} is no margin of {order}, in this order.")
    return chosen


def terms_of(session: Session, dataset: Dataset) -> dict[str, Any]:
    """What a data set's answers depend on; changes only with an entry."""
    previous = None if dataset.previous is None else session.get(Dataset, dataset.previous)
    terms = {name: getattr(dataset, name) for name in TERMS}
    terms |= {name: said for name in NEWER if (said := getattr(dataset, name)) is not None}
    return terms | {"previous": None if previous is None else previous.slug}


def verify(
    session: Session, dataset: Dataset | int, *, head: str | None = None
) -> VerificationView:
    """Look at every entry and publication of a data set's ledger.

    `head` is one that was noted before, NUMBER:HASH; the ledger must still go through it.
    """
    check = _Check(session, dataset if isinstance(dataset, int) else dataset.id)
    check.guards()
    check.entries(head)
    check.publications()
    return VerificationView(
        dataset=str(check.dataset["slug"]),
        holds=not check.problems,
        entries=check.number,
        publications=check.published,
        head=f"{check.dataset['head_number']}:{check.dataset['head_hash']}",
        problems=check.problems,
        notes=check.notes(),
    )


def verify_all(session: Session) -> list[VerificationView]:
    """Every ledger in the database."""
    known = list(session.scalars(select(Dataset.id).order_by(Dataset.id)))
    lost = select(Entry.dataset_id).where(Entry.dataset_id.not_in(known)).distinct()
    problem = ProblemView(entry=None, what="there are entries of a data set that is not there.")
    return [verify(session, found) for found in known] + [
        VerificationView(
            dataset=f"data set {found}",
            holds=False,
            entries=0,
            publications=0,
            head=f"0:{START}",
            problems=[problem],
            notes=[],
        )
        for found in session.scalars(lost)
    ]


def missing_guards(session: Session, wanted: set[str]) -> list[str]:
    """The triggers that are not there, or off."""
    if session.get_bind().dialect.name == "sqlite":
        found = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    else:
        found = "SELECT tgname FROM pg_trigger WHERE tgenabled IN ('O', 'A')"
    return sorted(wanted - set(session.scalars(text(found))))


class _Check:
    """Reads what is stored as it is, and trusts none of it."""

    def __init__(self, session: Session, dataset_id: int) -> None:
        found = session.execute(_stored(Dataset, Dataset.id == dataset_id)).one()
        self.session, self.id, self.dataset = session, dataset_id, dict(found._mapping)
        self.problems: list[ProblemView] = []
        self.number = self.published = 0
        self.granted: dict[int, tuple[str, str]] = {}  # number: margin, table hash
        self.withdrawn: dict[int, tuple[int, str, str]] = {}  # number: by which entry, when, why
        self.variables: list[dict[str, Any]] = []
        self.meaning: Meaning | None = None  # by the last terms that have it
        self.readings: list[Reading] = []
        self.silent = 0  # entries that do not say what the data meant
        self.opened: list[str] = []  # what was said when it was opened

    def note(self, what: str, number: int | None = None) -> None:
        self.problems.append(ProblemView(entry=number, what=what))

    def notes(self) -> list[str]:
        """What was said at the opening; what the data meant when, where that changed or was not
        kept, in words.
        """
        said = [str(reading) for reading in self.readings]
        if self.silent:
            which = "entry 1 does" if self.silent == 1 else f"entries 1 to {self.silent} do"
            said.insert(0, f"{which} not say what the data meant: an earlier version wrote that.")
        return [*self.opened, *said]

    def guards(self) -> None:
        """The triggers that forbid changes are there and on."""
        for name in missing_guards(self.session, GUARDS):
            self.note(f"the database does not see to it that {name.replace('_', ' ')}.")

    def entries(self, head: str | None) -> None:
        before, terms, heads = START, None, set()
        for row in self._rows(Entry, Entry.dataset_id):
            stored = dict(row._mapping)
            number = self.number = self.number + 1
            if stored["number"] != number:
                self.note(f"there is {stored['number']} instead.", number)
                self.number = stored["number"] if isinstance(stored["number"], int) else number
            if stored["previous"] != before:
                self.note("it does not follow the entry before.", number)
            if not _matches(stored, self.dataset["slug"]):
                self.note("it was changed: its hash is another.", number)
            before, terms = stored["hash"], stored["terms"] or terms
            heads.add(f"{stored['number']}:{before}")
            self._remember(stored)
            self._read(stored, number)
            if number == 1 and stored["note"]:
                self.opened.append(f"entry 1, {str(stored['at'])[:10]}: {stored['note']}")
        if (self.number, before) != (self.dataset["head_number"], self.dataset["head_hash"]):
            last = self.dataset["head_number"]
            self.note(f"the ledger ends at entry {self.number}; it should at {last}, as it was.")
        if head is not None and head not in heads:
            self.note(f"the ledger does not go through {head}.")
        if not self._same(terms):
            self.note("the data set's terms are not those of the last entry that has them.")

    def _same(self, terms: Any) -> bool:
        """Does the data set stand as the ledger says?"""
        slug = select(Dataset.slug).where(Dataset.id == self.dataset["previous"])
        found: dict[str, Any] = {"previous": self.session.scalar(slug)}
        try:
            for name in (*TERMS, *NEWER):
                stored = self.dataset[name]
                if name in NEWER and stored is None:
                    continue
                json_ = isinstance(Dataset.__table__.columns[name].type, Canonical)
                found[name] = json.loads(stored) if json_ and stored is not None else stored
                if json_ and stored is not None and canonical(found[name]) != stored:
                    return False
            self.variables = found["variables"]
            return bool(terms == canonical(found))
        except (ValueError, TypeError):
            return False

    def _remember(self, stored: Mapping[str, Any]) -> None:
        if stored["table_hash"] is not None:
            self.granted[stored["number"]] = stored["margin"], stored["table_hash"]
        if stored["kind"] == Kind.WITHDRAWN:
            self.withdrawn[stored["about"]] = stored["number"], stored["at"], stored["note"]

    def _read(self, stored: Mapping[str, Any], number: int) -> None:
        """Text and hash of what the data mean belong together, and change only by some entries."""
        try:
            text = json.loads(stored["terms"] or "{}").get("meaning")
            if text is not None and (self.meaning is None or text != self.meaning.text):
                self._change(stored, number, Meaning(str(text)))
        except (ValueError, TypeError, KeyError, AttributeError):
            self.note("its text of what the data mean cannot be read.", number)
        if stored["meaning"] != (None if self.meaning is None else self.meaning.hash):
            self.note("it has not the hash of what the data mean by the last text.", number)
        self.silent += self.meaning is None

    def _change(self, stored: Mapping[str, Any], number: int, meaning: Meaning) -> None:
        before, self.meaning = self.meaning, meaning
        wanted = Kind.CODEBOOK if before else Kind.OPENED if number == 1 else Kind.TAKEN_OVER
        if stored["kind"] != wanted:
            self.note("it changes what the data mean, and is no entry for that.", number)
        said = before.differences(meaning) if before else (TAKEN_OVER,) * bool(meaning.content)
        if wanted != Kind.OPENED:
            by = stored["at"], stored["actor"], stored["note"]
            self.readings.append(Reading(number, *by, said))

    def publications(self) -> None:
        for row in self._rows(Publication, Publication.dataset_id):
            self.published += 1
            _, number, margin, counts, hash_, *withdrawn = tuple(row)
            if self.granted.pop(number, None) != (margin, hash_):
                self.note("its publication is not the one that it granted.", number)
            elif not self._right(margin, counts, hash_):
                self.note("its published counts were changed.", number)
            _, *known = self.withdrawn.pop(number, (0, None, None))
            if withdrawn != known:
                self.note("its withdrawal is not the one in the ledger.", number)
        for number in self.granted:
            self.note("its publication is missing.", number)
        for by, *_ in self.withdrawn.values():
            self.note("it withdraws what was not published.", by)

    def _right(self, margin: str, counts: bytes, hash_: str) -> bool:
        try:
            names = json.loads(margin)
            size = 8 * prod(shape_of(self.variables, names))
            raw = zlib.decompressobj().decompress(counts, size + 1)
            return table_hash(self.variables, names, raw) == hash_
        except (ValueError, TypeError, KeyError, zlib.error, LedgerError):
            return False

    def _rows(self, model: type[Base], owner: Any) -> Iterable[Row[Any]]:
        found = _stored(model, owner == self.id).order_by(*model.__table__.primary_key)
        return self.session.execute(found, execution_options={"yield_per": 500})


def _matches(stored: Mapping[str, Any], slug: str) -> bool:
    try:
        return bool(stored_hash(stored, slug) == stored["hash"])
    except TypeError:  # bytes where text should be
        return False


def _stored(model: type[Base], where: Any) -> Select[Any]:
    """The rows as the database has them, JSON as text."""
    columns = [
        type_coerce(c, Text).label(c.name) if isinstance(c.type, Canonical) else c
        for c in model.__table__.columns
    ]
    return select(*columns).where(where)
