"""Opening and closing data sets, and their terms: all that becomes public passes the gate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from discreet.data.previous import Previous
from discreet.decision.answering import gate
from discreet.decision.answering.answer import Why
from discreet.decision.answering.desk import Desk
from discreet.decision.answering.relation import Relation, relate
from discreet.decision.frontier.brief import Sets
from discreet.decision.law.policy import Policy
from discreet.errors import DisclosureError, LedgerError
from discreet.server.deciding.codebooks import Codebooks
from discreet.server.deciding.current_desks import Served
from discreet.server.deciding.unready import unready
from discreet.server.ledger import store
from discreet.server.ledger.chain import APART, GIVEN, SEARCHED
from discreet.server.ledger.marks import SECRET, check_secret, keep_secret
from discreet.server.ledger.meaning import Meaning
from discreet.server.ledger.population import axes_of, check_new, related, said_of, vintages
from discreet.server.ledger.schema import Dataset, Kind, Mark, canonical, now
from discreet.server.showing.margins import lists_of, sets_of
from discreet.table.table import Table

OPERATOR = "operator"
TRIES = 5  # to open a vintage while others are still being asked


class Office(Codebooks):
    """What the operator and custodians do with a data set as a whole."""

    def open(
        self,
        table: Table,
        policy: Policy,
        *,
        slug: str,
        title: str = "",
        frontier: Iterable[Iterable[str]] | None = None,
        searched: bool = False,
        listed: Iterable[Iterable[str]] | None = None,
        previous: str | None = None,
        apart: bool = False,
        older_names: Previous | None = None,
        about: Mapping[str, Any] | None = None,
        meaning: Meaning | None = None,
        actor: str = OPERATOR,
    ) -> Served:
        """Put a table behind the counter; if its ledger is there, go on from where it is.

        What is out from the start must pass the gate, together with all that is out of the other
        vintages of the same people; these are closed in the same transaction. `older_names` says
        what variables and categories of the `previous` vintage became. `searched`: the frontier
        was found in the data, which the ledger keeps. `meaning` is what the data
        mean, by default all that the table says: if the ledger has another one, nothing is decided
        until it is accepted.
        """
        means = Meaning.of(table) if meaning is None else meaning
        try:
            return self._open(
                table, policy, slug, title, frontier, searched, listed, previous, apart,
                older_names or Previous(), about, means, actor,
            )  # fmt: skip
        except SQLAlchemyError as error:
            raise unready(error) from error

    def _open(
        self,
        table: Table,
        policy: Policy,
        slug: str,
        title: str,
        frontier: Iterable[Iterable[str]] | None,
        searched: bool,
        listed: Iterable[Iterable[str]] | None,
        previous: str | None,
        apart: bool,
        older_names: Previous,
        about: Mapping[str, Any] | None,
        meaning: Meaning,
        actor: str,
    ) -> Served:
        fingerprint = self._fingerprint(table)
        with self.database.read() as session:
            known = session.scalar(select(Dataset.id).where(Dataset.slug == slug))
        if known is None:
            known = self._begin(
                table,
                policy,
                sets_of(table, frontier),
                previous,
                older_names,
                apart=apart,
                searched=searched,
                fingerprint=fingerprint,
                slug=slug,
                title=title or slug,
                listed=lists_of(table, sets_of(table, listed)),
                about=about,
                meaning=meaning,
                actor=actor,
            )
        served = Served(known, slug, table, fingerprint, meaning, about)
        with self.database.read() as session:
            self._check(session, known, table, fingerprint)
            dataset = session.get_one(Dataset, known)
            self._check_previous(session, dataset, previous)
            served.others = tuple(other.slug for other in vintages(session, dataset))
            old = dataset.meaning is None
        if old:  # of an earlier version
            self._take_over(served, actor)
        with self.database.read() as session:
            self._caught_up(session, served, session.get_one(Dataset, known))
            noted = session.get(Mark, SECRET) is not None
        if not noted:  # by an earlier version
            with self.database.write() as session:
                keep_secret(session, self.secret, proven=True)
        self.served[slug] = served
        return served

    def _begin(
        self,
        table: Table,
        policy: Policy,
        frontier: Sets | None,
        previous: str | None,
        older_names: Previous,
        *,
        apart: bool,
        searched: bool,
        fingerprint: str,
        slug: str,
        meaning: Meaning,
        actor: str,
        **terms: Any,
    ) -> int:
        """Judge what would be out, then open and publish, and close the other vintages."""
        said = [APART] if apart else []
        if frontier is not None:
            said.append(SEARCHED if searched else GIVEN)
        Desk(table, policy, frontier=frontier, out=())  # a rule that cannot be is said first
        out = gate.opening(table, policy, frontier)
        check = partial(
            check_new,
            slug=slug,
            table=table,
            fingerprint=fingerprint,
            previous=previous,
            apart=apart,
            served={one.slug: one.table for one in self.served.values()},
        )
        axes = {variable.name: variable.categories for variable in table.variables}
        plain = [{"name": v.name, "categories": list(v.categories)} for v in table.variables]
        for _ in range(TRIES):
            with self.database.read() as session:
                check_secret(session, self.secret)
                check(session)
                older = self._older(session, previous)
                heads = {other.id: other.head_hash for other in older}
                step = self._step(table, older, older_names)
                others = [
                    vintage
                    for other in older
                    for vintage in self._vintages(
                        session, axes, other, step.then(related(session, older[-1])[other.id])
                    )
                ]
            Desk(table, policy, frontier=frontier, others=others, out=())
            gate.check(table, out, policy, others)

            variables = said_of(plain, step) if older else plain

            def begin(
                session: Session,
                heads: Mapping[int, str] = heads,
                variables: Sequence[Mapping[str, Any]] = variables,
            ) -> int | None:
                keep_secret(session, self.secret)
                if (found := store.find_dataset(session, slug)) is not None:
                    return found.id
                check(session)
                older = self._older(session, previous)
                if {other.id: other.head_hash for other in older} != heads:
                    return None
                for other in older:
                    self._close(session, other, actor, f"the newer vintage {slug} is open")
                dataset = store.open_dataset(
                    session,
                    slug=slug,
                    fingerprint=fingerprint,
                    policy=policy.to_toml(),
                    variables=variables,
                    frontier=lists_of(table, frontier),
                    previous=None if previous is None else older[-1].id,
                    actor=actor,
                    note=" ".join(said) or None,
                    state=self._state(fingerprint, 1, table, (), meaning.hash),
                    meaning=meaning.text,
                    **terms,
                )
                served = Served(dataset.id, slug, table, fingerprint, meaning)
                self._publish_all(session, served, dataset, out, actor)
                return dataset.id

            if (made := self.database.transact(None, begin)) is not None:
                return made
        raise LedgerError(f"{slug!r} cannot be opened while so much is asked of {previous!r}.")

    def _step(self, table: Table, older: Sequence[Dataset], said: Previous) -> Relation:
        """What the variables and categories of the vintage that was named became."""
        if not older:
            if said != Previous():
                raise LedgerError(
                    "the codebook says under [previous] what became of an older vintage, and none "
                    "is named; name it with --previous."
                )
            return Relation({})
        axes = {variable.name: variable.categories for variable in table.variables}
        try:
            found = relate(axes, axes_of(older[-1]), said)
        except LedgerError as error:
            raise LedgerError(f"of the older vintage {older[-1].slug!r} {error}") from None
        if not found.variables:
            raise LedgerError(
                f"{older[-1].slug!r} has none of the variables of these data; a vintage is of the "
                "same people."
            )
        return found

    def _older(self, session: Session, previous: str | None) -> list[Dataset]:
        """All vintages of a population, the one that was named last."""
        if previous is None:
            return []
        named = store.find_dataset(session, previous)
        if named is None or previous not in self.served:
            raise LedgerError(
                f"the older vintage {previous!r} is not served; serve its data too (--datasets)."
            )
        others = vintages(session, named)
        self.check_accepted(session, [other.slug for other in (*others, named)])
        for other in others:
            if other.slug not in self.served:
                raise LedgerError(
                    f"{previous!r} has another vintage, {other.slug!r}; serve its data too "
                    "(--datasets)."
                )
        return [*others, named]

    def _check_previous(self, session: Session, dataset: Dataset, previous: str | None) -> None:
        """Whose vintage it is, the ledger says; the command line cannot say otherwise."""
        known = None if dataset.previous is None else session.get(Dataset, dataset.previous)
        if previous is not None and previous != (known.slug if known else None):
            raise LedgerError(
                f"the ledger of {dataset.slug!r} says that it is "
                f"{f'a vintage of {known.slug!r}' if known else 'no vintage of another'}, not of "
                f"{previous!r}; leave --previous out."
            )

    def _publish_all(
        self, session: Session, served: Served, dataset: Dataset, margins: Iterable[int], actor: str
    ) -> None:
        """What has passed the gate."""
        for margin in margins:
            self._publish(session, served, dataset, margin, actor, kind=Kind.PUBLISHED, why=Why.OUT)

    def _close(self, session: Session, dataset: Dataset, actor: str, why: str) -> None:
        """No more new tables; what is out stays."""
        if dataset.closed_at is None:
            dataset.closed_at = now()
            served = self._served(dataset.slug)
            self._append(session, served, dataset, kind=Kind.CLOSED, actor=actor, note=why)

    # Terms

    def change_policy(self, slug: str, changes: dict[str, Any], actor: str, note: str = "") -> int:
        """Other terms from now on; the version. What they add to what is out passes the gate.

        Where two custodians must approve, the first only proposes: the version stays.
        """

        def think(served: Served, desk: Desk) -> tuple[Policy, Sets] | None:
            policy = desk.policy.change(changes)
            with self.database.read() as session:
                dataset = session.get_one(Dataset, served.id)
                supposed = self._supposed(session, served, policy)  # raises if it cannot be
                frontier = sets_of(served.table, dataset.frontier)
                seconded = desk.rule.approvers < 2 or self._proposed(
                    session, dataset, changes, actor
                )
            if not seconded:
                return None
            new = supposed.added(frontier)
            if new and served.closed:
                raise DisclosureError("nothing new is published of these data: they are closed.")
            if new:
                gate.check(served.table, (*supposed.out, *new), policy, supposed.others)
            return policy, new

        def keep(
            session: Session, served: Served, dataset: Dataset, thought: tuple[Policy, Sets] | None
        ) -> int:
            if thought is None:
                said = canonical({"changes": changes, "note": note})
                self._append(session, served, dataset, kind=Kind.PROPOSED, actor=actor, note=said)
                return dataset.policy_version
            policy, new = thought
            dataset.policy, dataset.policy_version = policy.to_toml(), dataset.policy_version + 1
            self._append(
                session, served, dataset, kind=Kind.POLICY, actor=actor,
                note=note or ", ".join(f"{k} = {v}" for k, v in changes.items()),
            )  # fmt: skip
            self._publish_all(session, served, dataset, new, actor)
            return dataset.policy_version

        return self._decide(slug, think, keep)

    def _proposed(
        self, session: Session, dataset: Dataset, changes: Mapping[str, Any], actor: str
    ) -> bool:
        """Has another custodian proposed the same, under the policy as it is?"""
        return any(
            entry.actor != actor and found == dict(changes)
            for entry, found, _ in store.proposals(session, dataset)
        )

    def _supposed(self, session: Session, served: Served, policy: Policy) -> Desk:
        """The desk as it would be under another policy."""
        dataset = session.get_one(Dataset, served.id)
        table = served.table
        return Desk(
            table,
            policy,
            frontier=sets_of(table, dataset.frontier),
            listed=sets_of(table, dataset.listed),
            others=() if served.closed else self._others(session, dataset),
            out=self._out(session, dataset, table),
        )

    def list_margins(self, slug: str, margins: Iterable[Iterable[str]], actor: str) -> None:
        """What can be asked for, where the policy says that only listed margins can."""
        sets = sets_of(self._served(slug).table, margins)

        def keep(session: Session, served: Served, dataset: Dataset, _: None) -> None:
            dataset.listed = lists_of(served.table, sets)
            self._append(session, served, dataset, kind=Kind.LISTED, actor=actor)

        self._decide(slug, lambda served, desk: None, keep)

    def close(self, slug: str, actor: str, why: str) -> None:
        """No more new tables; what is out stays."""

        def keep(session: Session, served: Served, dataset: Dataset, _: None) -> None:
            self._close(session, dataset, actor, why)

        self._decide(slug, lambda served, desk: None, keep)
