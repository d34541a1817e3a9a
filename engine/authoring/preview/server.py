"""Serves the page on this machine, and tells open pages when there is another."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import time
from collections.abc import AsyncIterator, Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from engine import __version__
from engine.authoring.lint import FindingSeverity
from engine.authoring.preview.follow import PreviewState
from engine.errors import EngineError, UsageError
from engine.pages.render import render, style_sheet

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# The page: an item as HTML, in the style of our other pages.

_PACKAGE = "engine.authoring.preview"


def page_of(
    look: PreviewState,
    number: str,
    path: Path,
    *,
    is_live: bool = True,
    back: tuple[str, str] | None = None,
) -> str:
    """Return the page.

    Parameters
    ----------
    look : PreviewState
    number : str
        Tells this page from the one before; open pages compare it.
    path : Path
        The file, as the person gave it.
    is_live : bool
        Whether a server of ours tells it about the next save; otherwise it needs nothing beside itself.
    back : (str, str), optional
        Label and address of the page above this one.
    """
    findings = look.findings
    spec = look.spec
    return render(
        "preview.html.j2",
        package=_PACKAGE,
        number=number,
        file=str(path),
        back=back,
        title=spec.title if spec else path.name,
        at=look.at.strftime("%H:%M:%S"),
        spec=spec,
        kind=spec.kind.replace("_", " ") if spec else "",
        cards=look.cards,
        faults=look.faults,
        missing=look.missing,
        is_old=look.is_old,
        starter=look.starter or "",
        findings=findings,
        errors=sum(finding.severity is FindingSeverity.ERROR for finding in findings or ()),
        engine_version=__version__,
        style_text="" if is_live else Markup(style()),
    )


@cache
def style() -> str:
    """Return the style sheet: that of all our pages, and what only this one needs."""
    return style_sheet() + _file("preview.css")


@cache
def script() -> str:
    """Return the script of the page."""
    return _file("preview.js")


def _file(name: str) -> str:
    return (files(_PACKAGE) / "templates" / name).read_text(encoding="utf-8")


HOST = "127.0.0.1"  # never another: keys are on the page
_KEEP_ALIVE_S = 15.0  # shorter than any proxy or browser waits for a silent stream
_RETRY_MS = 1000
MAX_STREAMS = 32
"""Most pages that are notified of changes; a further one takes the oldest one's place."""


class PageHub:
    """The look that is shown, and the open pages that wait for another.

    Parameters
    ----------
    look : PreviewState
        The first.
    path : Path
        The file, as the person gave it.
    """

    def __init__(self, look: PreviewState, path: Path) -> None:
        self._path = path
        self._start = (
            f"{time.time_ns():x}"  # a page of an earlier run never takes a number of ours for its own
        )
        self._count = 1
        self._look = look
        self._page: tuple[str, str] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: dict[asyncio.Event, None] = {}  # in the order in which they came
        self._ended: set[asyncio.Event] = set()
        self.is_closed = False

    @property
    def number(self) -> str:
        """What distinguishes this look from all others."""
        return f"{self._start}-{self._count}"

    def show(self, look: PreviewState) -> None:
        """Show another look; may be called from any thread."""
        self._look = look
        self._count += 1
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def close(self) -> None:
        """End what the open pages wait for."""
        self.is_closed = True
        self._wake()

    def page(self) -> str:
        """Return the page; made once per look."""
        number, look = self.number, self._look
        if self._page is None or self._page[0] != number:  # many pages may be open
            self._page = (number, page_of(look, number, self._path))
        return self._page[1]

    async def events(self) -> AsyncIterator[str]:
        """Yield the number of the look, at once and whenever it changes, as server-sent events.

        Each open page holds one. Of too many the oldest is ended, so that a page opened now is served; what
        it belonged to asks again after a while, as pages do.
        """
        self._loop = asyncio.get_running_loop()
        changed = asyncio.Event()
        self._waiting[changed] = None
        while len(self._waiting) > MAX_STREAMS:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            self._ended.add(oldest)
            oldest.set()
        try:
            yield f"retry: {_RETRY_MS}\n\n"
            sent = None
            while not self.is_closed and changed not in self._ended:
                changed.clear()
                if sent != self.number:  # several saves while a page slept are one change
                    sent = self.number
                    yield f"data: {sent}\n\n"
                try:
                    await asyncio.wait_for(changed.wait(), _KEEP_ALIVE_S)
                except TimeoutError:
                    yield ": still here\n\n"
        finally:
            self._waiting.pop(changed, None)
            self._ended.discard(changed)

    def _wake(self) -> None:
        for changed in list(self._waiting):
            changed.set()


def application(hub: PageHub, port: int) -> ASGIApp:
    """Return the web application: page, style, script and events; nothing takes parameters."""
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, Response, StreamingResponse
    from starlette.routing import Route

    def page(request: Request) -> Response:
        return HTMLResponse(hub.page())

    def style_file(request: Request) -> Response:
        return Response(style(), media_type="text/css")

    def script_file(request: Request) -> Response:
        return Response(script(), media_type="text/javascript")

    async def events(request: Request) -> Response:
        return StreamingResponse(hub.events(), media_type="text/event-stream")

    routes = [
        Route("/", page),
        Route("/style.css", style_file),
        Route("/preview.js", script_file),
        Route("/events", events),
    ]
    return RequestGuard(Starlette(routes=routes), port)


def bind(port: int) -> socket.socket:
    """Return a socket that listens on this machine only; port 0 takes a free one.

    Raises
    ------
    UsageError
        The port is taken, or may not be used.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # elsewhere it would let two servers share the port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise _cannot_bind(port, error) from error
    return listening


def _cannot_bind(port: int, error: OSError) -> UsageError:
    if error.errno == errno.EADDRINUSE:
        message = f"port {port} is in use: another preview or program has it"
        return UsageError(message, next_step="stop that one, or use another port: --port 0 picks a free one")
    message = f"port {port} can't be used"
    step = "use another port: --port 0 picks a free one"
    return UsageError(message, got=error.strerror or str(error), next_step=step)


def serve(hub: PageHub, listening: socket.socket, ready: Callable[[str], Any]) -> None:
    """Serve until Ctrl-C.

    Parameters
    ----------
    hub : PageHub
    listening : socket
        From :func:`bind`; closed at the end.
    ready : callable
        Called with the page's address once it can be opened.

    Raises
    ------
    EngineError
        The server can't run.
    """
    import uvicorn

    port = listening.getsockname()[1]

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready(f"http://{HOST}:{port}/")

        def handle_exit(self, sig: int, frame: Any) -> None:
            hub.close()  # or the open pages would be waited for
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        application(hub, port),
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    try:
        Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        return
    except SystemExit as stop:  # uvicorn's way to say that it couldn't start
        raise EngineError("the preview's server can't run", got=f"exit code {stop.code}") from stop
    finally:
        listening.close()


# Who may see the page: this machine's own user, by this machine's own name, and nothing may be embedded.
#
# The page shows keys. A page of another site can't ask for it under a name that leads here (the ``Host``
# header is checked), and on Linux other users of the machine are told apart by the owner of their connection.

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


class RequestGuard:
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
    """Return the id of the user who made a local connection; None where the system doesn't say.

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
