"""Bodies that are far too large, too slow, or end in the middle: sent by HTTP to a real server."""

from __future__ import annotations

import asyncio
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator, MutableMapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.quiz.rules import now
from engine.web import forms, unread_bodies
from engine.web.application import application
from engine.web.site import Site
from tests.live.quiz_visitor import publish_quiz
from tests.live.site import LiveSite, new_course
from tests.live.streams import multipart_head, stream, watched

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux tells it")

GIB = 1 << 30
MIB = 1 << 20
HAND_IN = "/code/softmax/hand-in"
# What may be on its way in the sockets of both sides when the answer is read.
ON_ITS_WAY = 16 * MIB


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveSite]:
    folder = tmp_path_factory.mktemp("large")
    (folder / "temporary").mkdir()
    course = new_course(folder / "course")
    publish_quiz(course, "ada", "bob")
    environment = {"TMPDIR": str(folder / "temporary")}
    # Without workers: what they load would look like memory of the bodies.
    with LiveSite(course, "--workers", "1", "--log", str(folder / "log"), environment=environment) as running:
        with running.browser("ada") as browser:
            browser.get("/code/softmax")
        yield running


@pytest.fixture(autouse=True)
def nothing_is_left(live: LiveSite) -> Iterator[None]:
    yield
    folder = live.folder.parent
    end = time.monotonic() + 15
    while left := [path for path in (folder / "temporary").glob("softmark-*") if not _is_sandbox(path)]:
        assert time.monotonic() < end, left
        time.sleep(0.1)
    assert '"event": "fault"' not in (folder / "log").read_text(encoding="utf-8")
    assert "Traceback" not in live.complaints()


def _is_sandbox(path: Path) -> bool:
    return any(path.iterdir()) and not any(path.glob("upload-*"))


@pytest.mark.parametrize("is_announced", [True, False], ids=["announced", "chunked"])
@pytest.mark.parametrize(
    ("name", "filename", "most"),
    [("files", "softmax.py", 20 * MIB), ("files", "all.zip", 20 * MIB), ("code", None, MIB)],
    ids=["file", "archive", "field"],
)
def test_a_gigabyte_is_refused_while_it_streams(
    live: LiveSite, name: str, filename: str | None, most: int, is_announced: bool
) -> None:
    cookie = live.cookie_of("ada")
    with watched(live, "bob") as watch:
        answer = stream(
            live,
            HAND_IN,
            multipart_head(name, filename),
            GIB,
            cookie=cookie,
            length=GIB if is_announced else None,
        )
    assert answer.status == 413, answer.text
    assert answer.sent < (0 if is_announced else most) + ON_ITS_WAY
    sentences = ("too large",)
    assert all(sentence in answer.text for sentence in sentences), answer.text
    assert watch.growth < 48, watch.memory
    assert not watch.is_held_up, watch


def test_who_sends_on_is_cut_off(live: LiveSite) -> None:
    """As a browser does that reads the answer at the end only: it mustn't fill the server's time."""
    with watched(live, "bob") as watch:
        answer = stream(
            live, HAND_IN, multipart_head("files", "a.py"), GIB, cookie=live.cookie_of("ada"), is_deaf=True
        )
    assert answer.was_cut
    assert answer.sent < GIB // 2
    assert answer.seconds < unread_bodies._AT_MOST_S + 5
    assert watch.growth < 48, watch.memory
    assert not watch.is_held_up, watch


@pytest.mark.parametrize("path", ["/quiz/week-1/1/save", "/nothing", "/requests", HAND_IN, "/lti/launch"])
@pytest.mark.parametrize("is_announced", [True, False], ids=["announced", "chunked"])
def test_a_gigabyte_to_any_other_address(live: LiveSite, path: str, is_announced: bool) -> None:
    answer = stream(
        live,
        path,
        b"text.a=",
        GIB,
        length=GIB if is_announced else None,
        kind="application/x-www-form-urlencoded",
    )
    assert answer.status in (403, 404, 413), answer.text
    assert answer.sent < 4 * MIB + ON_ITS_WAY


def test_a_body_a_little_too_large_gets_its_page_although_it_is_sent_to_the_end(live: LiveSite) -> None:
    answer = stream(
        live,
        HAND_IN,
        multipart_head("files", "a.py"),
        24 * MIB,
        cookie=live.cookie_of("ada"),
        length=24 * MIB,
        is_deaf=True,
    )
    assert not answer.was_cut
    assert answer.status == 413 and "at most 20 MiB" in answer.text
    assert "connection: close" in answer.text.lower()


def test_a_client_that_vanishes_in_the_middle(live: LiveSite) -> None:
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", live.port)) as connection:
            connection.sendall(_begun(live, HAND_IN, 5 * MIB) + multipart_head("files", "a.py") + b"#" * MIB)
            time.sleep(0.1)
    with live.browser("ada") as browser:
        assert browser.get("/account").status_code == 200


def test_many_slow_ones_hold_up_nobody_nor_the_end(tmp_path: Path) -> None:
    course = new_course(tmp_path / "course")
    publish_quiz(course, "ada", "bob")
    site = LiveSite(course)
    slow = [socket.create_connection(("127.0.0.1", site.port)) for _ in range(60)]
    try:
        for connection in slow:
            connection.sendall(_begun(site, HAND_IN, 1000) + multipart_head("files", "a.py"))
        with watched(site, "bob") as watch:
            for _ in range(3):
                for connection in slow:
                    connection.sendall(b"a")
                time.sleep(0.3)
        assert not watch.is_held_up, watch
        assert not select.select(slow, [], [], 0)[0], "they are answered although they aren't whole"
        began = time.monotonic()
        assert site.stop(signal.SIGTERM) == 0, site.complaints()
        assert time.monotonic() - began < 40
    finally:
        for connection in slow:
            connection.close()
        site.stop()
    assert "Traceback" not in site.complaints()


def test_a_body_that_doesnt_come_is_given_up(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "_HEAD_START_S", 0.3)
    cookie = site.store.sessions.begin("ada", way="mail", now=now(), lasts=timedelta(hours=1))
    pieces, answer = 0, bytearray()

    async def receive() -> dict[str, Any]:
        nonlocal pieces
        pieces += 1
        await asyncio.sleep(0.1)
        return {"type": "http.request", "body": b"a", "more_body": True}

    async def send(message: MutableMapping[str, Any]) -> None:
        answer.extend(str(message.get("status", "")).encode() + message.get("body", b""))

    for kind in (b"application/x-www-form-urlencoded", b"text/plain"):
        pieces = 0
        answer.clear()
        headers = [
            (b"host", b"testserver"),
            (b"content-type", kind),
            (b"cookie", f"softmark-session={cookie}".encode()),
        ]
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/requests",
            "raw_path": b"/requests",
            "query_string": b"",
            "headers": headers,
            "client": ("127.0.0.1", 1),
        }
        asyncio.run(asyncio.wait_for(application(site)(scope, receive, send), 10))  # type: ignore[arg-type]
        if kind == b"text/plain":  # it is no form whatever follows
            assert answer.startswith(b"400") and pieces == 1
        else:
            assert answer.startswith(b"408") and b"too slowly" in answer and pieces < 10


def _begun(site: LiveSite, path: str, length: int) -> bytes:
    kind = "multipart/form-data; boundary=softmark-test"
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nContent-Type: {kind}\r\n"
        f"Cookie: softmark-session={site.cookie_of('ada')}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()
