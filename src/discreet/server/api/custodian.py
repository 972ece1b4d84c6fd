"""What custodians decide, and what they and auditors read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request

from discreet.decision.answering.gate import why
from discreet.errors import DisclosureError
from discreet.server.api.replies import Number, Slug, Text
from discreet.server.api.roles import ONE, Allowed, documented
from discreet.server.deciding.codebooks import CodebookView
from discreet.server.deciding.counter import DryRunView
from discreet.server.deciding.requests import deciding
from discreet.server.deciding.unready import Unready
from discreet.server.guards.errors import Refused
from discreet.server.ledger.chain import VerificationView
from discreet.server.services import services_of
from discreet.server.showing.naming import chosen
from discreet.server.showing.shapes import Body, DecisionView
from discreet.server.showing.staff_views import (
    LedgerView,
    ListedView,
    PendingView,
    PolicyView,
    RefusalsView,
    SpaceView,
    checked_changes,
    codebook_view,
    dry_run_view,
    ledger_view,
    listed_view,
    pending_view,
    policy_view,
    refusals_view,
    space_view,
    verification_view,
)
from discreet.server.showing.views import decision_view, served

T = TypeVar("T")
router = APIRouter(prefix=ONE, tags=["custody"])
Note = Annotated[Text, Field(max_length=2_000)]


class NoteBody(Body):
    note: Note = ""


class DryRunBody(Body):
    changes: dict[str, bool | int | float | Text] = Field(
        min_length=1, max_length=100, examples=[{"small.width": 5}]
    )


class ListedBody(Body):
    margins: list[list[str]] = Field(max_length=1_000, examples=[[["Race", "Income"]]])


class CodebookBody(Body):
    hash: Annotated[Text, Field(max_length=64)]
    reason: Annotated[Text, Field(min_length=1, max_length=1_000)]


class PolicyBody(DryRunBody):
    note: Note = ""


@router.get("/ledger", response_model=LedgerView, responses=documented(404))
def ledger(
    request: Request,
    who: Allowed,
    slug: Slug,
    after: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    limit: Annotated[int, Query(ge=1, le=5_000)] = 500,
) -> LedgerView:
    """Entries after a number."""
    return ledger_view(services_of(request), slug, after, limit)


@router.get("/ledger/verification", response_model=VerificationView, responses=documented(404))
def verification(request: Request, who: Allowed, slug: Slug) -> VerificationView:
    """Is the ledger as it was written?"""
    return verification_view(services_of(request), slug)


@router.get("/space", response_model=SpaceView, responses=documented(404))
@deciding
def space(request: Request, who: Allowed, slug: Slug) -> SpaceView:
    """How many margins are released, possible and gone; for custodians also the risk left."""
    return space_view(services_of(request), slug, cells=who.role == "custodian")


@router.get("/refusals", response_model=RefusalsView, responses=documented(404))
@deciding
def refusals(request: Request, who: Allowed, slug: Slug) -> RefusalsView:
    """What was refused as unsafe, and what that tells."""
    return refusals_view(services_of(request), slug)


@router.get("/pending", response_model=PendingView, responses=documented(404))
@deciding
def pending(request: Request, who: Allowed, slug: Slug, cost: bool = False) -> PendingView:
    """What waits for a decision; with `cost`, what each would close off."""
    return pending_view(services_of(request), slug, cost=cost)


@router.post("/pending/{number}/approve", response_model=DecisionView, responses=documented(404))
@deciding
def approve(
    request: Request, who: Allowed, slug: Slug, number: Number, body: NoteBody
) -> DecisionView:
    """Publish what waits, if it is still safe."""
    services = services_of(request)
    served(services, slug)
    return decision_view(
        services, slug, services.counter.approve(slug, number, who.actor, body.note)
    )


@router.post("/pending/{number}/reject", response_model=DecisionView, responses=documented(404))
@deciding
def reject(
    request: Request, who: Allowed, slug: Slug, number: Number, body: NoteBody
) -> DecisionView:
    """Decide against what waits."""
    services = services_of(request)
    served(services, slug)
    return decision_view(
        services, slug, services.counter.reject(slug, number, who.actor, body.note)
    )


@router.get("/policy", response_model=PolicyView, responses=documented(404))
def policy(request: Request, who: Allowed, slug: Slug) -> PolicyView:
    """Every key, its value and what it means."""
    return policy_view(services_of(request), slug)


@router.post("/policy/dry-run", response_model=DryRunView, responses=documented(404))
@deciding
def dry_run(request: Request, who: Allowed, slug: Slug, body: DryRunBody) -> DryRunView:
    """What another policy would change; nothing is changed."""
    services = services_of(request)
    services.catalogue.dataset(slug)
    return _usable(lambda: dry_run_view(services, slug, body.changes))


@router.post("/policy", response_model=PolicyView, responses=documented(404))
@deciding
def change_policy(request: Request, who: Allowed, slug: Slug, body: PolicyBody) -> PolicyView:
    """Other terms from now on."""
    services = services_of(request)
    served(services, slug)
    changes = checked_changes(services, slug, body.changes)
    _usable(lambda: services.counter.change_policy(slug, changes, who.actor, body.note))
    return policy_view(services, slug)


@router.get("/codebook", response_model=CodebookView, responses=documented(404))
def codebook(request: Request, who: Allowed, slug: Slug) -> CodebookView:
    """Does the codebook say of the data what was accepted, and what not?"""
    return codebook_view(services_of(request), slug)


@router.post("/codebook", response_model=CodebookView, responses=documented(404))
@deciding
def accept_codebook(request: Request, who: Allowed, slug: Slug, body: CodebookBody) -> CodebookView:
    """Accept what it says, if all that is out passes the policy so."""
    services = services_of(request)
    served(services, slug)
    _usable(lambda: services.counter.accept(slug, body.hash, who.actor, body.reason))
    return codebook_view(services, slug)


@router.get("/listed", response_model=ListedView, responses=documented(404))
def listed(request: Request, who: Allowed, slug: Slug) -> ListedView:
    """The largest tables that can be asked for, where the policy is curated."""
    return listed_view(services_of(request), slug)


@router.post("/listed", response_model=ListedView, responses=documented(404))
@deciding
def list_margins(request: Request, who: Allowed, slug: Slug, body: ListedBody) -> ListedView:
    """What can be asked for from now on: these tables and everything within them."""
    services = services_of(request)
    overview = served(services, slug)
    margins = [chosen(overview, margin) for margin in body.margins]
    services.counter.list_margins(slug, margins, who.actor)
    return listed_view(services, slug)


def _usable(work: Callable[[], T]) -> T:
    """A policy or a codebook that does not fit the data is for the custodian to see."""
    try:
        return work()
    except Unready:
        raise
    except DisclosureError as error:
        raise Refused(422, "wrong_input", why(error)) from None
