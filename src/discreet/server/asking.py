"""Asking for a table and about one, from the API and from pages: paced, counted, with the quota."""

from __future__ import annotations

import time
from collections.abc import Sequence

from fastapi import BackgroundTasks
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from discreet.decision.answering.answer import Outcome
from discreet.server.errors import Refused
from discreet.server.identity import Visitor
from discreet.server.ledger.schema import now
from discreet.server.operation import metrics_of, note_uses
from discreet.server.pace import paced
from discreet.server.site import site_of
from discreet.server.views import (
    DatasetView,
    DecisionView,
    StatusView,
    chosen,
    dataset_view,
    decision_view,
    served,
    status_view,
)

USES = {Outcome.GRANTED: "grants", Outcome.REFUSED: "refusals", Outcome.PENDING: "pending"}
NEEDS_ACCOUNT = (
    "an account is needed to ask for new tables of these data: each account has a number of them "
    "in a day."
)


async def ask(
    request: Request, slug: str, names: Sequence[str], who: Visitor, later: BackgroundTasks
) -> DecisionView:
    """Decide on a request; `later` counts its use when the answer is on its way."""
    arrived, at, site = time.monotonic(), now(), site_of(request)
    overview = await run_in_threadpool(site.catalogue.dataset, slug)
    served(site, slug)
    margin, rule = chosen(overview, names), overview.policy.server
    if rule.quota and who.role == "public":
        raise Refused(401, "login_needed", NEEDS_ACCOUNT)

    def decide() -> DecisionView:
        return decision_view(site, slug, site.counter.request(slug, margin, who.actor, at=at))

    view = await paced(rule, decide, arrived=arrived)
    metrics = metrics_of(request)
    metrics.decisions.labels(slug, str(view.outcome)).inc()
    metrics.seconds.observe(time.monotonic() - arrived)
    later.add_task(note_uses, site, overview.id, ["requests", USES[view.outcome]])
    return view


async def look(request: Request, slug: str, names: Sequence[str]) -> StatusView:
    """How a margin stands."""
    arrived, site = time.monotonic(), site_of(request)
    overview = await run_in_threadpool(site.catalogue.dataset, slug)
    rule = overview.policy.server
    return await paced(rule, lambda: status_view(site, slug, names), arrived=arrived)


async def describe(request: Request, slug: str) -> DatasetView:
    """A data set, with how many of its tables are out or possible."""
    arrived, site = time.monotonic(), site_of(request)
    overview = await run_in_threadpool(site.catalogue.dataset, slug)
    rule = overview.policy.server
    return await paced(rule, lambda: dataset_view(site, slug), arrived=arrived)
