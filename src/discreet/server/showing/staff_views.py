"""What custodians and auditors are shown: the ledger, the query space, what waits, the terms."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import Field
from sqlalchemy import select

from discreet.decision.answering.answer import Outcome, Why
from discreet.decision.answering.desk import TRIALS
from discreet.decision.answering.simulatable import policy_rule
from discreet.decision.answering.trial import Trial, trial
from discreet.decision.law.policy import Policy, sections
from discreet.effort import Clock
from discreet.errors import DisclosureError
from discreet.intruder.refusals.refusals import refusal_posterior
from discreet.release.release import Release
from discreet.server.deciding.codebooks import CodebookView
from discreet.server.deciding.counter import CostView, DryRunView
from discreet.server.ledger import store
from discreet.server.ledger.chain import VerificationView, verify
from discreet.server.ledger.schema import Dataset, Entry, Kind
from discreet.server.services import Services
from discreet.server.showing.catalogue import UnknownDataset
from discreet.server.showing.shapes import Names, OrderView, View
from discreet.server.showing.views import served
from discreet.table.formula import Formula

SHOWN = 20  # cells, the narrowest first
PATIENCE = 20.0  # seconds, after which a survey stops
SMALL = 64  # cells of a table for which it is worked out what refusals tell
FEW = 5  # refusals that are taken into account
DRAWS, TABLES = 50, 200
SPEAKING = (
    "Refusals are decided by the data: whoever knows the rule learns from each of them. What they "
    "tell is not counted in the bounds."
)
SILENT = "Refusals are decided without the data, so that they tell nothing."


class EntryView(View):
    number: int
    at: str
    kind: Kind
    actor: str
    about: int | None
    margin: Names | None
    outcome: Outcome | None
    why: str | None
    note: str | None
    policy_version: int
    state: str
    table_hash: str | None
    meaning: str | None = Field(description="Hash of what the data mean; none of old entries.")
    previous: str
    hash: str


class LedgerView(View):
    dataset: str
    head: int
    entries: list[EntryView]


class CellView(View):
    """A guarded cell: which it is, is confidential."""

    cell: dict[str, str]
    width: int


class SpaceView(View):
    dataset: str
    orders: list[OrderView]
    surveyed: bool = Field(description="If not, some of what is possible may be gone.")
    beta: int
    narrowest: int | None = Field(description="Least width of a small count; for custodians.")
    risk_left: int | None = Field(description="The narrowest width less beta; for custodians.")
    cells: list[CellView] | None = Field(description="The narrowest; for custodians.")


class PendingItem(View):
    number: int
    at: str
    margin: Names
    actor: str
    why: Why
    message: str
    cost: CostView | None


class PendingView(View):
    dataset: str
    pending: list[PendingItem]


class KeyOfPolicy(View):
    key: str = Field(examples=["small.width"])
    value: bool | int | float | str
    says: str
    locked_by: str | None


class ProposalView(View):
    """A change that another custodian must ask for, too."""

    entry: int
    at: str
    actor: str
    changes: dict[str, bool | int | float | str]
    note: str


class PolicyView(View):
    dataset: str
    name: str
    version: int
    keys: list[KeyOfPolicy]
    proposed: list[ProposalView] = Field(description="Where two custodians must agree.")


class ListedView(View):
    """What can be asked for where the policy is curated; None: nothing was listed."""

    dataset: str
    margins: list[Names] | None


class ToldView(View):
    """What the refusals tell whoever knows the rule and what is out now."""

    nats: float
    probability: float = Field(description="Of these refusals, before they came.")
    tables: tuple[int, int] | None = Field(description="That fit, before and after.")


class RefusalsView(View):
    dataset: str
    warning: str
    refused: list[Names]
    told: ToldView | None
    not_computed: str | None = Field(description="Why it was not worked out.")


def ledger_view(services: Services, slug: str, after: int = 0, limit: int = 500) -> LedgerView:
    with services.database.read() as session:
        dataset = _find(session, slug)
        found = store.entries(session, dataset, after, limit)
        return LedgerView(
            dataset=slug,
            head=dataset.head_number,
            entries=[EntryView.model_validate(entry) for entry in found],
        )


def verification_view(services: Services, slug: str) -> VerificationView:
    with services.database.read() as session:
        return verify(session, _find(session, slug))


def codebook_view(services: Services, slug: str) -> CodebookView:
    """What the codebook says otherwise than was accepted."""
    served(services, slug)
    return services.counter.codebook_change(slug)


def space_view(services: Services, slug: str, *, cells: bool) -> SpaceView:
    """The query space, as far as it is surveyed in a short time; `cells` only for custodians."""
    overview = served(services, slug)
    with services.counter.desk(slug) as desk:
        surveyed = desk.space.survey(TRIALS, Clock(PATIENCE))
        counts, beta = desk.space.counts(), desk.policy.small.width
        judge = desk.trial if desk.rule.rule == "myopic" else None
        narrow = _narrowest(judge) if cells and judge else None
        table, policy, out = desk.table, desk.policy, desk.out
    if cells and judge is None:
        judge = trial(table, policy)
        judge.take(out)
        narrow = _narrowest(judge)
    least = narrow[0].width if narrow else None
    return SpaceView(
        dataset=slug,
        orders=OrderView.each(counts, len(overview.names)),
        surveyed=surveyed,
        beta=beta,
        narrowest=least,
        risk_left=None if least is None else least - beta,
        cells=narrow,
    )


def _narrowest(judge: Trial) -> list[CellView]:
    cells, widths = judge.widths()
    order = np.argsort(widths, kind="stable")[:SHOWN]
    return [CellView(cell=cells.label(int(row)), width=int(widths[row])) for row in order]


def pending_view(services: Services, slug: str, *, cost: bool = False) -> PendingView:
    """What waits for a custodian, and if asked for what each would close off."""
    with services.database.read() as session:
        dataset = _find(session, slug)
        waiting = store.waiting(session, dataset.id)
    return PendingView(
        dataset=slug,
        pending=[
            PendingItem(
                number=entry.number,
                at=entry.at,
                margin=list(entry.margin or ()),
                actor=entry.actor,
                why=Why(entry.why or ""),
                message=Why(entry.why or "").said,
                cost=_cost(services, slug, entry) if cost else None,
            )
            for entry in waiting
        ],
    )


def _cost(services: Services, slug: str, entry: Entry) -> CostView:
    served(services, slug)
    return services.counter.cost(slug, entry.margin or (), seconds=1.0)


def policy_view(services: Services, slug: str) -> PolicyView:
    overview = services.catalogue.dataset(slug)
    policy = overview.policy
    says = {
        f"{name}.{key.name}": key.metadata["says"]
        for name, section in sections().items()
        for key in dataclasses.fields(section)
    }
    with services.database.read() as session:
        found = store.proposals(session, _find(session, slug))
    return PolicyView(
        proposed=[
            ProposalView(
                entry=entry.number, at=entry.at, actor=entry.actor, changes=changes, note=note
            )
            for entry, changes, note in found
        ],
        dataset=slug,
        name=policy.name,
        version=overview.policy_version,
        keys=[
            KeyOfPolicy(key=key, value=value, says=says[key], locked_by=policy.locked.get(key))
            for key, value in policy.to_dict().items()
        ],
    )


def listed_view(services: Services, slug: str) -> ListedView:
    with services.database.read() as session:
        return ListedView(dataset=slug, margins=_find(session, slug).listed)


def checked_changes(services: Services, slug: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes of a policy, if a ledger can keep them."""
    before = services.catalogue.dataset(slug).policy
    after = before.change(changes)
    try:
        same = Policy.loads(after.to_toml()).to_dict() == after.to_dict()
    except ValueError:  # no TOML
        same = False
    if not same:
        raise DisclosureError("a value has characters that a policy cannot keep; remove them.")
    return dict(changes)


def dry_run_view(services: Services, slug: str, changes: Mapping[str, Any]) -> DryRunView:
    """What another policy would change; nothing is changed."""
    served(services, slug)
    return services.counter.dry_run(slug, checked_changes(services, slug, changes), seconds=3.0)


def refusals_view(services: Services, slug: str) -> RefusalsView:
    """What was refused as unsafe, and what that tells, where it can be worked out."""
    overview = served(services, slug)
    with services.database.read() as session:
        refused = session.scalars(
            select(Entry.margin).where(
                Entry.dataset_id == overview.id,
                Entry.kind == Kind.REQUEST,
                Entry.outcome == Outcome.REFUSED,
                Entry.why == Why.UNSAFE,
            )
        ).all()
    margins = list(dict.fromkeys(tuple(margin or ()) for margin in refused))
    speaks = overview.policy.server.speaks
    myopic = overview.policy.server.rule == "myopic"
    told, reason = _told(services, slug, margins) if myopic and margins else (None, None)
    return RefusalsView(
        dataset=slug,
        warning=SPEAKING if speaks else SILENT,
        refused=[list(margin) for margin in margins],
        told=told,
        not_computed=reason,
    )


def _told(
    services: Services, slug: str, margins: list[tuple[str, ...]]
) -> tuple[ToldView | None, str | None]:
    with services.counter.desk(slug) as desk:
        table, policy, out = desk.table, desk.policy, desk.out
    if table.size > SMALL:
        return None, f"the table has {table.size:,} cells; it is worked out for up to {SMALL}."
    if not out:
        return None, "nothing is out yet."
    public = Release.margins(table, Formula(table.names, out))
    try:
        found = refusal_posterior(
            public,
            [Formula.of([margin], table.names) for margin in margins[-FEW:]],
            policy_rule(policy, public),
            draws=DRAWS,
            limit=TABLES,
            seconds=5.0,
        )
    except DisclosureError as error:
        return None, str(error)
    return ToldView(nats=found.told, probability=found.probability, tables=found.tables), None


def _find(session: Any, slug: str) -> Dataset:
    found = store.find_dataset(session, slug)
    if found is None:
        raise UnknownDataset(f"there is no data set {slug!r}.")
    return found
