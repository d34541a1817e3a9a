"""Who may see the preview: the Host header, the owner of the connection, the headers of every answer."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from engine.authoring.preview import server as guard
from engine.authoring.preview.server import HEADERS, RequestGuard, owner_of

PORT = 8377


async def inner(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": b"keys"})


def ask(*hosts: bytes, kind: str = "http", client: tuple[str, int] | None = None) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    scope = {"type": kind, "headers": [(b"host", host) for host in hosts], "client": client, "method": "GET"}
    asyncio.run(RequestGuard(inner, PORT)(scope, receive, send))
    return sent


@pytest.mark.parametrize("host", [b"127.0.0.1:8377", b"localhost:8377"])
def test_this_machines_names_are_served(host: bytes) -> None:
    start, body = ask(host)
    assert (start["status"], body["body"]) == (200, b"keys")
    assert set(HEADERS) <= set(start["headers"])


@pytest.mark.parametrize(
    "hosts",
    [
        (),
        (b"",),
        (b"127.0.0.1",),
        (b"127.0.0.1:80",),
        (b"evil.example:8377",),
        (b"127.0.0.1.evil.example:8377",),
        (b"evil.example:8377", b"127.0.0.1:8377"),
        (b"127.0.0.1:8377", b"127.0.0.1:8377"),
        (b"127.0.0.1:8377@evil.example",),
        (b"LOCALHOST:8377",),
        (b"[::1]:8377",),
    ],
)
def test_other_names_are_refused(hosts: tuple[bytes, ...]) -> None:
    start, body = ask(*hosts)
    assert start["status"] == 403
    assert b"keys" not in body["body"]
    assert set(HEADERS) <= set(start["headers"])


def test_nothing_but_http_is_spoken() -> None:
    assert ask(b"127.0.0.1:8377", kind="websocket") == []


def test_the_policy_allows_no_inline_script_and_no_other_site() -> None:
    (policy,) = [value.decode() for name, value in HEADERS if name == b"content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert {rules["script-src"], rules["style-src"], rules["connect-src"]} == {"'self'"}
    assert {rules["base-uri"], rules["form-action"], rules["frame-ancestors"]} == {"'none'"}


TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:20B9 00000000:0000 0A 00000000:00000000 00:00000000 00000000   501        0 1 1 0 100 0 0 10 0
   1: 0100007F:20B9 0100007F:9C40 01 00000000:00000000 00:00000000 00000000   501        0 2 1 0 20 4 30 10 -1
   2: 0100007F:9C40 0100007F:20B9 01 00000000:00000000 00:00000000 00000000  1002        0 3 1 0 20 4 30 10 -1
"""


def test_the_owner_of_a_connection_is_read_from_the_systems_table(tmp_path: Path) -> None:
    table = tmp_path / "tcp"
    table.write_text(TABLE)
    assert owner_of(0x9C40, PORT, (table,)) == 1002
    assert owner_of(0x9C41, PORT, (table,)) is None
    assert owner_of(0x9C40, PORT + 1, (table,)) is None
    assert owner_of(0x9C40, PORT, (tmp_path / "none", table)) == 1002
    assert owner_of(0x9C40, PORT, (tmp_path / "none",)) is None


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the system has no such table")
def test_the_owner_of_a_real_connection_is_this_user() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            assert owner_of(client.getsockname()[1], port) == os.getuid()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="the system has no user ids")
@pytest.mark.parametrize(
    ("owner", "status"), [("own", 200), ("root", 200), ("unknown", 200), ("another", 403)]
)
def test_another_user_of_the_machine_is_refused(
    owner: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = {"own": os.getuid(), "root": 0, "unknown": None, "another": os.getuid() + 1}
    monkeypatch.setattr(guard, "owner_of", lambda port, server_port: ids[owner])
    start, _ = ask(b"127.0.0.1:8377", client=("127.0.0.1", 40000))
    assert start["status"] == status
