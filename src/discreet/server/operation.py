"""Health, metrics and statistics of use. Nothing here tells a count or a margin."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Depends
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from discreet.decision.answering.answer import Status
from discreet.server.api.roles import documented
from discreet.server.errors import Refused
from discreet.server.identity import RoleName, Visitor, needs, visitor
from discreet.server.ledger import store
from discreet.server.ledger.schema import Dataset
from discreet.server.logs import log
from discreet.server.site import Site, site_of
from discreet.server.views import View

SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
STAFF: tuple[RoleName, ...] = ("custodian", "auditor")
router = APIRouter(tags=["operation"])


class HealthView(View):
    status: str


class Metrics:
    """What Prometheus reads, of this process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.answers = Counter(
            "discreet_http_responses", "Responses.", ["route", "status"], registry=self.registry
        )
        self.decisions = Counter(
            "discreet_decisions", "Decided requests.", ["dataset", "outcome"],
            registry=self.registry,
        )  # fmt: skip
        self.seconds = Histogram(
            "discreet_decision_seconds", "From request to answer.", buckets=SECONDS,
            registry=self.registry,
        )  # fmt: skip
        self.margins = Gauge(
            "discreet_margins", "Margins by status.", ["dataset", "status"], registry=self.registry
        )

    def text(self, site: Site) -> bytes:
        for slug in site.counter.served:
            with site.counter.desk(slug) as desk:
                counts = desk.space.counts()
            for status in Status:
                self.margins.labels(slug, str(status)).set(sum(counts[status].values()))
        return generate_latest(self.registry)


@router.get("/healthz", response_model=HealthView)
async def alive() -> HealthView:
    """Is the process up?"""
    return HealthView(status="up")


@router.get("/readyz", response_model=HealthView, responses=documented(503))
def ready(request: Request) -> HealthView:
    """Can it answer: is the database there, and is every data set open?"""
    site = site_of(request)
    try:
        with site.database.read() as session:
            session.execute(select(Dataset.id).limit(1))
    except SQLAlchemyError:
        raise Refused(503, "not_ready", "the database does not answer.") from None
    if not site.counter.served:
        raise Refused(503, "not_ready", "no data set is open yet.")
    return HealthView(status="ready")


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses=documented(401, 403),
)
async def metrics(request: Request, who: Annotated[Visitor, Depends(visitor)]) -> Response:
    """For Prometheus: from this machine, or with a custodian's or an auditor's key."""
    if who.role not in STAFF and not _local(request):
        await needs(*STAFF)(who)
    text = await run_in_threadpool(metrics_of(request).text, site_of(request))
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _local(request: Request) -> bool:
    """From this machine, and not through a proxy on it."""
    if request.client is None or "x-forwarded-for" in request.headers:
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def metrics_of(request: Request) -> Metrics:
    found: Metrics = request.app.state.metrics
    return found


def note_uses(site: Site, dataset_id: int, what: Iterable[str]) -> None:
    """Count what was done, after it was done; if that fails, so be it."""
    try:
        with site.database.write() as session:
            for one in what:
                store.use(session, dataset_id, one)
    except SQLAlchemyError as error:
        log().warning("use not counted", reason=type(error).__name__)
