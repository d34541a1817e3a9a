"""What a browser still sends after its request has been refused: thrown away for a moment, then cut off.

A browser reads an answer only when it has sent everything, or when it can't send on. Cut off at once, it
would mostly show "connection reset" in place of the page that says what is too large. Read to the end, a
file of a gigabyte would cost everybody else a second.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_AT_MOST_S: Final = 10.0
_SILENCE_S: Final = 3.0
# Between two pieces, of 64 KiB or a little more: others come first.
_PAUSE_S: Final = 0.005


class DiscardingApp:
    """Wraps an application: where it answers before a body has come to its end, the rest is discarded.

    The connection is closed afterwards: what comes after half a body is no request. A request that the end of
    the site cuts off is answered with a sentence.

    Parameters
    ----------
    app : ASGI application
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_whole, is_begun = not _has_body(scope), False

        async def receive_and_look() -> Message:
            nonlocal is_whole
            message = await receive()
            is_whole = is_whole or message["type"] == "http.disconnect" or not message.get("more_body", False)
            return message

        async def send_and_discard(message: Message) -> None:
            nonlocal is_begun
            is_begun = True
            if is_whole:
                await send(message)
            elif message["type"] == "http.response.start":
                await send({**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]})
            elif message.get("more_body", False):
                await send(message)
            else:
                # All of the answer is on its way, but the server still reads.
                await send({**message, "more_body": True})
                with contextlib.suppress(TimeoutError, asyncio.CancelledError):
                    async with asyncio.timeout(_AT_MOST_S):
                        await _discard(receive)
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        try:
            await self._app(scope, receive_and_look, send_and_discard)
        except asyncio.CancelledError:  # the server's patience at its end is over
            if not is_begun:
                await send({"type": "http.response.start", "status": 503, "headers": _ENDED_HEADERS})
                await send({"type": "http.response.body", "body": _ENDED, "more_body": False})


_ENDED: Final = b"The site is being restarted. Nothing that was saved is lost: send this again in a minute."
_ENDED_HEADERS: Final = [
    (b"content-type", b"text/plain; charset=utf-8"),
    (b"x-content-type-options", b"nosniff"),
    (b"retry-after", b"60"),
    (b"connection", b"close"),
]


async def _discard(receive: Receive) -> None:
    while True:
        async with asyncio.timeout(_SILENCE_S):
            message: Any = await receive()
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            return
        await asyncio.sleep(_PAUSE_S)


def _has_body(scope: Scope) -> bool:
    headers = dict(scope["headers"])
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"
