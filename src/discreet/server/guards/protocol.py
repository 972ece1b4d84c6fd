"""HTTP/1.1 as it is read from a connection, without what is short to send and long to read.

All of a connection's bytes that have come are read before another connection has its turn: each
header, and each piece of a body, takes time of its own there, however short it is.
"""

from __future__ import annotations

import re
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_HEADERS = 200
MOST_PIECES = 1_000  # of a body: chunks, or what came at a time
LONGEST = 32_768  # bytes of an address with its headers
END = re.compile(rb"\r?\n\r?\n")


class Brief(h11.Connection):
    """Reads requests of few headers, and bodies in few pieces."""

    pieces = 0

    def next_event(self) -> Any:
        if self.their_state is h11.IDLE:
            self.pieces = 0
            if END.split(self.trailing_data[0], 1)[0].count(b"\n") > MOST_HEADERS:
                raise h11.RemoteProtocolError("too many headers", error_status_hint=431)
        event = super().next_event()
        if isinstance(event, h11.Data):
            self.pieces += 1
            if self.pieces > MOST_PIECES:
                raise h11.RemoteProtocolError("too many pieces", error_status_hint=413)
        return event


class Protocol(H11Protocol):
    """What uvicorn speaks to a client: it answers such a request with 400, and hangs up."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.conn = Brief(h11.SERVER, LONGEST)
