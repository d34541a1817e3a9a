"""The log of the site: a line of JSON for each request and each fault, without anything about a person.

A line says which page was asked for, with what result and how fast; never who asked, what was sent, or
which student's page it was. Of a fault of ours it has the kind of error and where in our files it was
raised; its message stays out, because foreign text may be in it.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from collections.abc import MutableMapping
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger("softmark.web")
requests = logging.getLogger("softmark.web.requests")

_MOST_FRAMES = 12
_STATIC = "/static/"


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
        }
        extra = getattr(record, "fields", None)
        fields |= extra if extra is not None else {"event": "message", "text": record.getMessage()}
        if record.exc_info and record.exc_info[1] is not None:
            fields["error"] = error_frames(record.exc_info[1])
        return json.dumps(fields, ensure_ascii=True)


def error_frames(error: BaseException) -> list[str]:
    """Return the kind of an error and the places through which it came, innermost last; not its message."""
    frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
    return [*(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames), type(error).__name__]


def note_fault(number: str, route: str, error: BaseException) -> None:
    """Write a fault of ours into the log, under the number that its page shows."""
    frames = error_frames(error)
    fields = {"event": "fault", "number": number, "route": route, "error": frames}
    log.error("fault %s at %s\n  %s", number, route, "\n  ".join(frames), extra={"fields": fields})


def begin_log(target: str) -> None:
    """Write lines of JSON to a file, or to standard error where `target` is ``-``.

    The file is opened anew when another program, such as logrotate, has moved it away.

    Raises
    ------
    UsageError
        It can't be written.
    """
    handler: logging.Handler
    if target == "-":
        handler = logging.StreamHandler(sys.stderr)
    else:
        path = Path(target)
        try:
            if not path.exists():
                path.touch(mode=0o640)
            handler = WatchedFileHandler(path, encoding="utf-8")
        except OSError as error:
            raise UsageError(
                "the log can't be written",
                where=target,
                got=error.strerror or str(error),
                next_step="make its folder, or log elsewhere: --log - writes to standard error",
            ) from error
    handler.setFormatter(JsonLines())
    for name in ("softmark", "engine", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING)
    requests.setLevel(logging.INFO)


class RequestLog:
    """Wraps an application: notes every request when its answer has been sent.

    Parameters
    ----------
    app : ASGI application
    with_addresses : bool
        Note the browser's address too, for programs that hold up attackers.
    """

    def __init__(self, app: ASGIApp, *, with_addresses: bool = False) -> None:
        self._app = app
        self._with_addresses = with_addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http" or not requests.isEnabledFor(logging.INFO):
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 500

        async def send_and_look(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_and_look)
        finally:
            requests.info("request", extra={"fields": self._fields(scope, status, began)})

    def _fields(self, scope: MutableMapping[str, Any], status: int, began: float) -> dict[str, Any]:
        page = scope.get("softmark.page")
        if page is None:
            page = ("static" if _STATIC in scope["path"] else "unknown", "nobody")
        fields = {
            "event": "request",
            "route": page[0],
            "method": scope["method"],
            "status": status,
            "ms": round((time.perf_counter() - began) * 1000, 1),
            "role": page[1],
        }
        if self._with_addresses and scope.get("client"):
            fields["client"] = scope["client"][0]
        return fields


def name_page(scope: MutableMapping[str, Any], route: str, role: str) -> None:
    """Say which page a request is for, and for which role: what the log notes of it."""
    scope["softmark.page"] = (route, role)
