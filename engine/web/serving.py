"""Runs the site: binds its address, serves until it is stopped, and finishes what is under way."""

from __future__ import annotations

import errno
import os
import signal
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.errors import EngineError, UsageError
from engine.web.unread_bodies import DiscardingApp

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_DRAIN_S = 20  # what a browser waits for is answered in this time, or never


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes a free one.

    Raises
    ------
    UsageError
        The port is in use, or may not be used.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening: socket.socket | None = None
    try:
        listening = socket.socket(family, socket.SOCK_STREAM)
        if os.name == "posix":  # elsewhere it would let two servers share the port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(512)
    except (OSError, TypeError) as error:
        if listening is not None:
            listening.close()
        if isinstance(error, TypeError):  # what Python says of a name that IDNA has no encoding for
            raise UsageError(
                "this isn't the name of a machine", got=host, next_step="name one of this machine's addresses"
            ) from error
        if error.errno == errno.EADDRINUSE:
            raise UsageError(
                f"port {port} is in use: another server has it",
                next_step="stop that one, or use another port: --port 0 picks a free one",
            ) from error
        is_forbidden = error.errno in (errno.EACCES, errno.EPERM)
        raise UsageError(
            f"{host}, port {port} can't be used",
            got=error.strerror or str(error),
            next_step="ports below 1024 are for the proxy: use another, such as --port 8000"
            if is_forbidden
            else "use another port: --port 0 picks a free one",
        ) from error
    return listening


def _at_prefix(app: ASGIApp, prefix: str) -> ASGIApp:
    """Serve an application under a path, whether the proxy takes that path off or passes it on."""

    async def prefixed(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = scope["path"]
            is_whole = path == prefix or path.startswith(f"{prefix}/")
            scope = {**scope, "root_path": prefix, "path": path if is_whole else prefix + path}
        await app(scope, receive, send)

    return prefixed


def serve(
    app: ASGIApp,
    listening: socket.socket,
    *,
    prefix: str = "",
    proxies: tuple[str, ...] = (),
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGINT or SIGTERM; then no new request is taken, and those under way are finished.

    Parameters
    ----------
    app : ASGI application
    listening : socket
        From :func:`bind`; closed at the end.
    prefix : str
        Path under which a proxy serves the site, ``/nlp``; empty for none.
    proxies : tuple of str
        Addresses of proxies whose ``X-Forwarded-For`` is believed.
    ready : callable
        Called once the site can be reached.

    Raises
    ------
    EngineError
        The server can't run.
    """
    import uvicorn

    from engine.web.slow_heads import PunctualProtocol

    config = uvicorn.Config(
        DiscardingApp(_at_prefix(app, prefix) if prefix else app),
        http=PunctualProtocol,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        timeout_graceful_shutdown=_DRAIN_S,
        timeout_keep_alive=30,
        lifespan="on",
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready()

    server = Server(config)
    # uvicorn raises the signal again after it has drained: that must not cut off what we have to close.
    before = signal.signal(signal.SIGTERM, lambda _number, _frame: None)
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
        listening.close()
    if not server.started:
        raise EngineError("the site can't be started", next_step="see the lines above")
