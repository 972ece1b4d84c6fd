"""Codebooks that changed: nothing is decided by another one until a custodian has accepted it."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from discreet.decision.answering import gate
from discreet.decision.answering.answer import Why
from discreet.decision.answering.desk import Desk
from discreet.decision.answering.vintage import Vintage
from discreet.decision.law.policy import Policy
from discreet.errors import DisclosureError, LedgerError
from discreet.server.deciding.current_desks import UNACCEPTED, CurrentDesks, Moved, Served
from discreet.server.deciding.unready import Unready
from discreet.server.ledger import store
from discreet.server.ledger.meaning import Meaning
from discreet.server.ledger.population import vintages
from discreet.server.ledger.schema import Dataset, Entry, Kind, canonical
from discreet.server.showing.shapes import View
from discreet.table.table import Table

Case = tuple[Table, tuple[int, ...], Policy, list[Vintage], bool]  # for the gate
DOUBT = (
    "What a custodian approved in doubt may still be in doubt: whoever accepts the change accepts "
    "that, too."
)


class CodebookView(View):
    """Does the codebook say of the data what a custodian accepted?"""

    dataset: str
    accepted: bool
    hash: str = Field(description="Of what it says; to accept it, send it back.")
    changes: list[str] = Field(examples=[["Income was sensitive, and is neither."]])
    proposed: list[str] = Field(description="Who accepted it already, where two must.")


class Codebooks(CurrentDesks):
    """What the data mean here and by the ledger, and how the ledger comes to another meaning."""

    def codebook_change(self, slug: str) -> CodebookView:
        """What is said otherwise of the data than was accepted."""
        served = self._served(slug)
        with self.database.read() as session:
            dataset = session.get_one(Dataset, served.id)
            before = Meaning(dataset.meaning or "{}")
            said = self._said(session, dataset, served.meaning.hash)
            every = (dataset, *vintages(session, dataset))
            doubt = any(self._in_doubt(session, one) for one in every)
        accepted = before.hash == served.meaning.hash
        says = (*before.differences(served.meaning), *((DOUBT,) if doubt else ()))
        return CodebookView(
            dataset=slug,
            accepted=accepted,
            hash=served.meaning.hash,
            changes=[] if accepted else list(says),
            proposed=[] if accepted else [one.actor for one in said],
        )

    def waits_for(self, slug: str) -> str | None:
        """The data set whose changed codebook must be accepted before this one is decided on."""
        served = self._served(slug)
        with served.lock:
            self._look(served)
            return served.waits_for

    def accept(self, slug: str, hash_: str, actor: str, why: str) -> bool:
        """The data mean from now on what they mean here, if all that is out passes the gate so.

        `hash_` is of the meaning that the custodian has seen. Where two custodians must approve,
        the first only proposes: False.
        """
        if not why.strip():
            raise DisclosureError("a change of the codebook needs a reason; the ledger keeps it.")
        if hash_ != self._served(slug).meaning.hash:
            raise DisclosureError("the codebook is another one by now; look at the change again.")

        def think(served: Served, _: Desk | None) -> tuple[bool, dict[int, str]]:
            if served.accepted == hash_:
                raise DisclosureError("the codebook is as it was accepted; nothing is to be done.")
            with self.database.read() as session:
                dataset = session.get_one(Dataset, served.id)
                two = Policy.loads(dataset.policy).server.approvers > 1
                said = [one.actor for one in self._said(session, dataset, hash_)]
                if actor in said:
                    raise DisclosureError("you have accepted it; another custodian must, too.")
                seconded = not two or bool(said)
                heads = {d.id: d.head_hash for d in vintages(session, dataset)}
                cases = self._all_out(session, dataset) if seconded else []
            for case in cases:
                _check(*case)
            return seconded, heads

        def keep(
            session: Session, served: Served, dataset: Dataset, thought: tuple[bool, dict[int, str]]
        ) -> bool:
            seconded, heads = thought
            if {d.id: d.head_hash for d in vintages(session, dataset)} != heads:
                raise Moved
            if seconded:
                dataset.meaning = served.meaning.text
                dataset.about = None if served.about is None else dict(served.about)
                self._append(session, served, dataset, kind=Kind.CODEBOOK, actor=actor, note=why)
            else:
                said = canonical({"codebook": hash_, "note": why})
                self._append(session, served, dataset, kind=Kind.PROPOSED, actor=actor, note=said)
            return seconded

        try:
            return self._act(slug, think, keep)
        except Moved:  # other vintages are decided on again and again
            raise Unready(
                "so much is asked of these data that it cannot be accepted now."
            ) from None

    def _said(self, session: Session, dataset: Dataset, hash_: str) -> list[Entry]:
        """Who proposed to accept it, where two custodians must."""
        since = select(func.max(Entry.number)).where(
            Entry.dataset_id == dataset.id, Entry.kind.in_([Kind.CODEBOOK, Kind.TAKEN_OVER])
        )
        found = store.codebook_proposals(session, dataset, after=session.scalar(since) or 0)
        return [entry for entry, proposed in found if proposed == hash_]

    def _all_out(self, session: Session, dataset: Dataset) -> list[Case]:
        """All that is out of the data set and of its vintages that can be asked, for the gate.

        What custodians approved in doubt may stay in doubt; all else must be proven without it.
        """
        wanted = [dataset, *(d for d in vintages(session, dataset) if d.closed_at is None)]
        every = (dataset, *vintages(session, dataset))
        ways = [True, False] if any(self._in_doubt(session, d) for d in every) else [False]
        return [
            (
                self._served(d.slug).table,
                self._out(session, d, self._served(d.slug).table, proven=proven),
                Policy.loads(d.policy),
                self._others(session, d, proven=proven),  # raises if one is not served
                len(ways) > 1 and not proven,
            )
            for d in wanted
            for proven in ways
        ]

    def _in_doubt(self, session: Session, dataset: Dataset) -> bool:
        """Is something out that was not proven when a custodian approved it?"""
        accepted = (Entry.dataset_id == dataset.id, Entry.why == Why.ACCEPTED)
        return session.scalar(select(Entry.number).where(*accepted).limit(1)) is not None

    def check_accepted(self, session: Session, slugs: Iterable[str]) -> None:
        """Raise if one of these means here what nobody has accepted."""
        if (slug := self._changed(session, slugs)) is not None:
            raise LedgerError(UNACCEPTED.format(slug))

    def _take_over(self, served: Served, actor: str) -> None:
        """The ledger of an earlier version says from now on what the data mean."""

        def take(session: Session) -> None:
            dataset = session.get_one(Dataset, served.id)
            if dataset.meaning is None:
                dataset.meaning = served.meaning.text
                self._append(session, served, dataset, kind=Kind.TAKEN_OVER, actor=actor)

        self.database.transact(served.id, take)


def _check(
    table: Table, out: tuple[int, ...], policy: Policy, others: list[Vintage], doubt: bool
) -> None:
    try:
        gate.check(table, out, policy, others, doubt=doubt)
    except gate.NotSafe as error:
        said = (
            "the change cannot be accepted: by it what is out does not pass the gate. Serve the "
            "codebook as it was accepted."
        )
        raise gate.NotSafe(f"{said} {error}", f"{said} {error.why}") from None
