"""What is done every few seconds as long as the server runs, and once more at its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from discreet.server.operation.logs import log


@asynccontextmanager
async def upkeep(works: Mapping[Callable[[], None], float]) -> AsyncIterator[None]:
    """Each work, every so many seconds."""
    tasks = [asyncio.create_task(_repeat(work, seconds)) for work, seconds in works.items()]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for work in works:
            await _once(work)


async def _repeat(work: Callable[[], None], seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        await _once(work)


async def _once(work: Callable[[], None]) -> None:
    try:
        await run_in_threadpool(work)
    except SQLAlchemyError as error:
        log().warning("upkeep failed", reason=type(error).__name__)
