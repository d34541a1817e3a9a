"""Who may see the page: this machine's own user, by this machine's own name, and nothing may be embedded.

Keys stand on the page.  A page of another site can't ask for it under a name that leads here (the ``Host``
header is checked), and on Linux other users of the machine are told apart by the owner of their connection.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "Guard", "owner_of"]

_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", _POLICY.encode("ascii")),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
)


class Guard:
    """Lets through what this machine's own user asks of this machine, and adds headers to every answer.

    Parameters
    ----------
    app : ASGI application
    port : int
        Where it is served.
    """

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app = app
        self._port = port
        self._hosts = {f"{name}:{port}".encode("ascii") for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        from starlette.responses import PlainTextResponse

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
            await send(message)

        if scope["type"] != "http":
            return
        refusal = self._refusal(scope)
        app = self._app if refusal is None else PlainTextResponse(refusal, status_code=403)
        await app(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> str | None:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return f"This page is served as http://127.0.0.1:{self._port}/ only.\n"
        client = scope.get("client")
        if client is not None and hasattr(os, "getuid"):
            owner = owner_of(client[1], self._port)
            if owner not in (None, 0, os.getuid()):
                return "This page belongs to another user of this machine.\n"
        return None


def owner_of(port: int, server_port: int, tables: tuple[Path, ...] = _TABLES) -> int | None:
    """Return the id of the user who made a local connection; None where the system doesn't tell.

    Parameters
    ----------
    port : int
        Of the client.
    server_port : int
        That it is connected to.
    tables : tuple of Path
        The system's lists of connections.
    """
    for table in tables:
        try:
            lines = table.read_text(encoding="ascii").splitlines()[1:]
        except (OSError, UnicodeDecodeError):
            continue
        for line in lines:
            columns = line.split()
            if len(columns) > 7 and (_port(columns[1]), _port(columns[2])) == (port, server_port):
                return int(columns[7])
    return None


def _port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)
