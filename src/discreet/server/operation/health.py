"""Health, metrics and statistics of use. Nothing here tells a count or a margin."""

from __future__ import annotations

import asyncio
import ipaddress
from concurrent.futures import ThreadPoolExecutor
from functools import partial
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
from discreet.server.guards.errors import Refused
from discreet.server.ledger.schema import Dataset
from discreet.server.operation.logs import log
from discreet.server.operation.meters import Meters
from discreet.server.people.identity import RoleName, Visitor, needs, visitor
from discreet.server.services import Services, services_of
from discreet.server.showing.shapes import View

SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
STAFF: tuple[RoleName, ...] = ("custodian", "auditor")
PATIENCE = 1.0  # seconds that health and metrics wait for what may be held by others
SILENT = "the database does not answer."
router = APIRouter(tags=["operation"])


class HealthView(View):
    status: str


class Metrics:
    """What Prometheus reads: of this process, or through `Meters` of all workers."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.registry, own = CollectorRegistry(), CollectorRegistry()
        self.answers = Counter(
            "discreet_http_responses", "Responses.", ["route", "status"], registry=own
        )
        self.decisions = Counter(
            "discreet_decisions", "Decided requests.", ["dataset", "outcome"], registry=own
        )
        self.seconds = Histogram(
            "discreet_decision_seconds", "From request to answer.", buckets=SECONDS, registry=own
        )
        waiting = Gauge("discreet_waiting", "Who waits for a decision to begin.", registry=own)
        waiting.set_function(lambda: services.pool.waiting)
        self.margins = Gauge(
            "discreet_margins", "Margins by status.", ["dataset", "status"], registry=self.registry
        )
        self.meters = Meters(services.database, own) if services.settings.shared else None
        self.registry.register(self.meters or own)
        self.health = ThreadPoolExecutor(2, "health")  # whatever all others wait for
        self._looks: set[asyncio.Task[None]] = set()

    def write(self) -> None:
        """For the other workers."""
        if self.meters is not None:
            self.meters.write()

    async def text(self) -> bytes:
        await self._look()
        return await run_in_threadpool(generate_latest, self.registry)

    async def _look(self) -> None:
        """At the query spaces, when their desks are free: if that takes long, for the next time."""
        for slug in self.services.counter.served:
            found = self.services.pool.run(
                partial(self._count, slug), lane=slug, key=("margins", slug), urgent=True
            )
            self._looks.add(task := asyncio.ensure_future(found))
            task.add_done_callback(self._looked)
        if self._looks:
            await asyncio.wait(set(self._looks), timeout=PATIENCE)

    def _looked(self, task: asyncio.Task[None]) -> None:
        self._looks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log().warning("margins not counted", reason=type(error).__name__)

    def _count(self, slug: str) -> None:
        counts = self.services.counter.counts(slug)
        for status in Status:
            self.margins.labels(slug, str(status)).set(sum(counts[status].values()))


@router.get("/healthz", response_model=HealthView)
async def alive() -> HealthView:
    """Is the process up?"""
    return HealthView(status="up")


@router.get("/readyz", response_model=HealthView, responses=documented(503))
async def ready(request: Request) -> HealthView:
    """Can it answer: is the database there, and is every data set open?"""
    loop, threads = asyncio.get_running_loop(), metrics_of(request).health
    try:
        async with asyncio.timeout(PATIENCE):
            trouble = await loop.run_in_executor(threads, _trouble, services_of(request))
    except TimeoutError:
        trouble = SILENT
    if trouble is not None:
        raise Refused(503, "not_ready", trouble)
    return HealthView(status="ready")


def _trouble(services: Services) -> str | None:
    try:
        with services.database.read() as session:
            session.execute(select(Dataset.id).limit(1))
    except SQLAlchemyError:
        return SILENT
    if not services.counter.served:
        return "no data set is open yet."
    return services.counter.trouble()


@router.get(
    "/metrics",
    response_class=PlainTextResponse,
    responses=documented(401, 403),
)
async def metrics(request: Request, who: Annotated[Visitor, Depends(visitor)]) -> Response:
    """For Prometheus: from this machine, or with a custodian's or an auditor's key."""
    if who.role not in STAFF and not _local(request):
        await needs(*STAFF)(who)
    text = await metrics_of(request).text()
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
