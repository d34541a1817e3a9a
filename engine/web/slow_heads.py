"""Connections that send the head of a request slowly, or nothing at all: closed after a while.

uvicorn waits for a head without end, and each connection that waits costs a descriptor: a few thousand of
them, opened by one program, would keep everybody else out. Bodies have limits of their own
(:mod:`engine.web.forms`).
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S: Final = 20.0
"""A head is a few kilobytes, on a slow line too: the time counts from its first byte, however it trickles."""

_LATE: Final = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class PunctualProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, with a time limit for each head."""

    head_s: float = HEAD_S
    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._look()

    def data_received(self, data: bytes) -> None:
        """Read on; a head that isn't complete yet gains no time."""
        super().data_received(data)
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the limit."""
        self._forget()
        super().connection_lost(exc)

    def _look(self) -> None:
        # Between two requests nothing has come yet, and uvicorn's own limit for idle connections runs.
        is_waiting = self.conn.their_state is h11.IDLE and self.timeout_keep_alive_task is None
        if not is_waiting or self.transport.is_closing():
            self._forget()
        elif self._limit is None:
            self._limit = self.loop.call_later(self.head_s, self._close)

    def _close(self) -> None:
        self._limit = None
        if not self.transport.is_closing():
            self.transport.write(_LATE)
            self.transport.close()

    def _forget(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
