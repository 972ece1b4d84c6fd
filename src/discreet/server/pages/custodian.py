"""The desk: what is left of a data set, what waits for a decision, and the ledger."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from discreet.decision.answering.answer import Outcome
from discreet.errors import DisclosureError
from discreet.server.api.replies import Number
from discreet.server.deciding.requests import deciding
from discreet.server.guards.errors import Refused
from discreet.server.ledger.chain import VerificationView
from discreet.server.pages.charts import space_bars, totals
from discreet.server.pages.render import Custodian, Here, Staff, page
from discreet.server.people.identity import Visitor
from discreet.server.services import Services
from discreet.server.showing import staff_views, views
from discreet.server.showing.naming import read_margin
from discreet.server.showing.staff_views import PendingItem

router = APIRouter()
Note = Annotated[str, Form(max_length=1_000)]
COSTED, COST_SECONDS = 5, 1.0  # pending requests whose cost the overview shows
LONGER = 5.0  # seconds for the cost of a single one
ENTRIES = 50
DONE = {
    "approved": "The table is published.",
    "seconded": "Your approval is kept; another custodian must approve, too.",
    "rejected": "The request is rejected.",
    "withdrawn": "The table is withdrawn.",
}


@router.get("/desk")
def desks(request: Request, services: Here, who: Staff) -> Response:
    found = [
        (
            overview,
            overview.slug in services.counter.served,
            len(staff_views.pending_view(services, overview.slug).pending),
            overview.slug in services.counter.served
            and not services.counter.codebook_change(overview.slug).accepted,
        )
        for overview in services.catalogue.datasets()
    ]
    return page(request, "desks", who, datasets=found)


@router.get("/desk/{slug}")
@deciding
def desk(request: Request, services: Here, who: Staff, slug: str, done: str = "") -> Response:
    return _desk(request, services, who, slug, said=DONE.get(done, ""))


def _desk(
    request: Request,
    services: Services,
    who: Visitor,
    slug: str,
    **told: Any,
) -> Response:
    """The query space, the risk left and what waits; of the cells, custodians see which."""
    overview = views.served(services, slug)
    if (other := services.counter.waits_for(slug)) is not None:
        return RedirectResponse(f"/desk/{other}/codebook", 303)
    decides = who.role == "custodian"
    space = staff_views.space_view(services, slug, cells=decides)
    waiting = staff_views.pending_view(services, slug).pending if decides else []
    return page(
        request,
        "desk",
        who,
        dataset=overview,
        space=space,
        totals=totals(space.orders),
        chart=space_bars(space.orders),
        waiting=[_costed(services, slug, one) for one in waiting[:COSTED]] + waiting[COSTED:],
        people=people_of(services),
        published=services.catalogue.margins(slug),
        uses=views.statistics_view(services, slug).totals,
        **told,
    )


@router.get("/desk/{slug}/pending/{number}")
@deciding
def pending(
    request: Request, services: Here, who: Custodian, slug: str, number: Number
) -> Response:
    """One request, with what it would close off."""
    overview = views.served(services, slug)
    waiting = staff_views.pending_view(services, slug).pending
    found = [_costed(services, slug, one, LONGER) for one in waiting if one.number == number]
    if not found:
        raise Refused(404, "not_found", f"no request {number} is pending.")
    return page(request, "pending", who, dataset=overview, one=found[0], people=people_of(services))


@router.post("/desk/{slug}/pending/{number}/approve")
@deciding
def approve(
    request: Request, services: Here, who: Custodian, slug: str, number: Number, note: Note = ""
) -> Response:
    """Publish what waits, if it is still safe."""
    views.served(services, slug)
    try:
        decided = services.counter.approve(slug, number, who.actor, note)
    except DisclosureError as error:
        return _desk(request, services, who, slug, error=str(error))
    return _done(slug, "approved" if decided.outcome is Outcome.GRANTED else "seconded")


@router.post("/desk/{slug}/pending/{number}/reject")
@deciding
def reject(
    request: Request, services: Here, who: Custodian, slug: str, number: Number, note: Note = ""
) -> Response:
    """Decide against what waits."""
    views.served(services, slug)
    try:
        services.counter.reject(slug, number, who.actor, note)
    except DisclosureError as error:
        return _desk(request, services, who, slug, error=str(error))
    return _done(slug, "rejected")


@router.post("/desk/{slug}/withdraw")
@deciding
def withdraw(
    request: Request, services: Here, who: Custodian, slug: str, margin: Note, reason: Note
) -> Response:
    """Serve a table no more."""
    overview = views.served(services, slug)
    try:
        if not reason.strip():
            raise DisclosureError("a withdrawal needs a reason; readers are told it.")
        names = read_margin(overview, margin)
        services.counter.withdraw(slug, names, who.actor, reason.strip())
    except DisclosureError as error:
        return _desk(request, services, who, slug, error=str(error))
    return _done(slug, "withdrawn")


@router.get("/desk/{slug}/ledger")
def ledger(
    request: Request,
    services: Here,
    who: Staff,
    slug: str,
    number: Annotated[int, Query(alias="page", ge=1, le=1_000_000)] = 1,
) -> Response:
    return _ledger(request, services, who, slug, number)


@router.post("/desk/{slug}/ledger/verify")
def verify(request: Request, services: Here, who: Staff, slug: str) -> Response:
    """Is the ledger as it was written?"""
    return _ledger(request, services, who, slug, 1, staff_views.verification_view(services, slug))


def _ledger(
    request: Request,
    services: Services,
    who: Visitor,
    slug: str,
    number: int,
    checked: VerificationView | None = None,
) -> Response:
    """A page of entries, the newest first."""
    overview = services.catalogue.dataset(slug)
    pages = max(1, -(-overview.head // ENTRIES))
    if number > pages:
        raise Refused(404, "not_found", f"the ledger has {pages} pages.")
    last = overview.head - (number - 1) * ENTRIES
    first = max(0, last - ENTRIES)
    entries = staff_views.ledger_view(services, slug, first, last - first).entries
    return page(
        request,
        "ledger",
        who,
        dataset=overview,
        entries=entries[::-1],
        people=people_of(services),
        number=number,
        pages=pages,
        checked=checked,
        page_address=lambda n: f"?page={n}",
        page_of=lambda n: f"?page={(overview.head - n) // ENTRIES + 1}#entry-{n}",
    )


@router.get("/desk/{slug}/refusals")
@deciding
def refusals(request: Request, services: Here, who: Custodian, slug: str) -> Response:
    """What was refused, and what that tells."""
    found = staff_views.refusals_view(services, slug)
    overview = services.catalogue.dataset(slug)
    speaks = overview.policy.server.speaks
    return page(request, "refusals", who, dataset=overview, found=found, speaks=speaks)


def _costed(
    services: Services, slug: str, one: PendingItem, seconds: float = COST_SECONDS
) -> PendingItem:
    cost = services.counter.cost(slug, one.margin, seconds=seconds)
    return one.model_copy(update={"cost": cost})


def _done(slug: str, what: str) -> Response:
    return RedirectResponse(f"/desk/{slug}?done={what}", 303)


def people_of(services: Services) -> dict[str, str]:
    """Names of the actors of a ledger."""
    return {str(user.id): user.name for user in services.accounts.users()} | {
        "public": "the public"
    }
