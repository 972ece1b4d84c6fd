"""Large answers: made once for a table, one at a time, and kept while there is room.

Who sends the same question in other words gets the same bytes. Nothing large is begun while much
is still being sent: slow readers do not fill the memory.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.server.deciding.pool import RETRY, Left, Pool
from discreet.server.formats.writing import Written
from discreet.server.guards.errors import Refused

LIGHT = 2_000  # cells that any thread writes at once
MOST = 64 << 20  # bytes that are kept
LARGE = 1 << 18  # bytes of a body that counts as being sent
MOST_SENT = 128 << 20  # bytes that are being sent when nothing large is begun any more
LANE = "files"


class Sending:
    """Counts the bytes of large bodies that clients have not taken yet; the same ones once."""

    def __init__(self) -> None:
        self.bytes = 0
        self._times: dict[int, int] = {}

    def begin(self, body: bytes) -> None:
        times = self._times.get(id(body), 0)
        self._times[id(body)] = times + 1
        self.bytes += 0 if times else len(body)

    def end(self, body: bytes) -> None:
        times = self._times.pop(id(body)) - 1
        if times:
            self._times[id(body)] = times
        else:
            self.bytes -= len(body)


class SendingCount:
    """The middleware that counts them."""

    def __init__(self, app: ASGIApp, sending: Sending) -> None:
        self.app, self.sending = app, sending

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted(message: Message) -> None:
            body = message.get("body", b"")
            if len(body) < LARGE:
                await send(message)
                return
            self.sending.begin(body)
            try:
                await send(message)
            finally:
                self.sending.end(body)

        await self.app(scope, receive, counted if scope["type"] == "http" else send)


class Made:
    """Files of tables, by what they say."""

    def __init__(self, pool: Pool, most: int = MOST, most_sent: int = MOST_SENT) -> None:
        self.pool, self.most, self.most_sent = pool, most, most_sent
        self.sending = Sending()
        self.bytes = 0
        self._kept: OrderedDict[Hashable, Written] = OrderedDict()

    async def file(
        self,
        key: Hashable,
        make: Callable[[], Written],
        *,
        cells: int,
        visitor: str,
        left: Left | None = None,
    ) -> Written:
        """What `make` writes, of so many cells; `key` holds all that it depends on."""
        if cells <= LIGHT:
            return await run_in_threadpool(make)
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        if self.sending.bytes > self.most_sent:
            raise Refused(
                503,
                "busy",
                f"many large tables are being sent; come again in {RETRY} s.",
                {"retry_after": RETRY},
                {"Retry-After": str(RETRY)},
            )
        found = await self.pool.run(make, lane=LANE, key=("file", key), visitor=visitor, left=left)
        self._keep(key, found)
        return found

    def _keep(self, key: Hashable, made: Written) -> None:
        if key in self._kept or len(made.body) > self.most // 2:
            return
        self._kept[key] = made
        self.bytes += len(made.body)
        while self.bytes > self.most:
            self.bytes -= len(self._kept.popitem(last=False)[1].body)
