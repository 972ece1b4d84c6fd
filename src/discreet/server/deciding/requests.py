"""Asking for a table and about one, from the API and from pages: in turn, paced, counted.

Whoever asks the same at the same time gets the same answer: `request` once for all of the public,
and for each account by itself, because an account has its own quota, tickets and notes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Sequence
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar, cast

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from discreet.decision.answering.answer import Outcome
from discreet.server.deciding.pool import Left
from discreet.server.deciding.slots import paced
from discreet.server.guards.errors import Refused
from discreet.server.guards.guard import Limits
from discreet.server.ledger.schema import now
from discreet.server.operation.health import metrics_of
from discreet.server.people.identity import Visitor
from discreet.server.services import Services, services_of
from discreet.server.showing.languages import spoken
from discreet.server.showing.naming import chosen
from discreet.server.showing.shapes import DatasetView, DecisionView, StatusView
from discreet.server.showing.views import dataset_view, decision_view, served, status_view

T = TypeVar("T")
P = ParamSpec("P")
USES = {Outcome.GRANTED: "grants", Outcome.REFUSED: "refusals", Outcome.PENDING: "pending"}
NEEDS_ACCOUNT = (
    "an account is needed to ask for new tables of these data: each account has a number of them "
    "in a day."
)


async def ask(request: Request, slug: str, names: Sequence[str], who: Visitor) -> DecisionView:
    """Decide on a request."""
    arrived, at, services = time.monotonic(), now(), services_of(request)
    overview = await run_in_threadpool(served, services, slug)
    margin, rule = chosen(overview, names), overview.policy.server
    if rule.quota and who.role == "public":
        raise Refused(401, "login_needed", NEEDS_ACCOUNT)

    def decide() -> DecisionView:
        return decision_view(
            services, slug, services.counter.request(slug, margin, who.actor, at=at)
        )

    key = ("request", slug, margin, who.actor, spoken())
    found = services.pool.run(
        decide, lane=slug, key=key, left=leaving(request), visitor=client_of(request)
    )
    view = await paced(rule, found, arrived=arrived)
    metrics = metrics_of(request)
    metrics.decisions.labels(slug, str(view.outcome)).inc()
    metrics.seconds.observe(time.monotonic() - arrived)
    services.uses.add(overview.id, "requests", USES[view.outcome])
    return view


async def look(request: Request, slug: str, names: Sequence[str]) -> StatusView:
    """How a margin stands; what takes work counts as a decision."""
    services = services_of(request)
    if not await run_in_threadpool(_is_known, services, slug, names):
        await request.app.state.limits.count("decisions", client_of(request))
    return await _shown(request, slug, partial(status_view, names=names), names)


def _is_known(services: Services, slug: str, names: Sequence[str]) -> bool:
    return services.counter.is_known(slug, chosen(served(services, slug), names))


async def describe(request: Request, slug: str) -> DatasetView:
    """A data set, with how many of its tables are out or possible: while others' requests are
    decided, as it was when somebody looked last.
    """
    services, arrived = services_of(request), time.monotonic()
    here = services.counter.served.get(slug)
    if here is None or here.counts is None or not services.pool.is_busy(slug):
        return await _shown(request, slug, dataset_view, ())
    overview = await run_in_threadpool(services.catalogue.dataset, slug)
    found = run_in_threadpool(dataset_view, services, slug, kept=True)
    return await paced(overview.policy.server, found, arrived=arrived)


async def _shown(
    request: Request, slug: str, view: Callable[[Services, str], T], names: Sequence[str]
) -> T:
    """What is the same for everybody, by the desk."""
    arrived, services = time.monotonic(), services_of(request)
    overview = await run_in_threadpool(services.catalogue.dataset, slug)
    key = ("view", slug, chosen(overview, names) if names else (), spoken())
    found = services.pool.run(
        partial(view, services, slug),
        lane=slug,
        key=key,
        left=leaving(request),
        visitor=client_of(request),
    )
    return await paced(overview.policy.server, found, arrived=arrived)


def client_of(request: Request) -> str:
    """Who takes turns: an account, or else an address."""
    limits: Limits = request.app.state.limits
    return limits.client(request, getattr(request.state, "visitor", None))


def leaving(request: Request) -> Left:
    """Waits until the client hangs up."""

    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    return left


def deciding(route: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """A custodian's route that may decide: in the pool, before what the public asks."""

    @wraps(route)
    async def pooled(*args: P.args, **given: P.kwargs) -> T:
        request, slug = cast(Request, given["request"]), cast(str, given["slug"])
        return await services_of(request).pool.run(
            lambda: route(*args, **given), lane=slug, urgent=True, left=leaving(request)
        )

    return pooled
