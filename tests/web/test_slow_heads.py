"""A connection that sends no whole head in time is closed; who is slow with anything else isn't touched."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn

from engine.web.slow_heads import HEAD_S, PunctualProtocol

LIMIT_S = 1.0


class QuickProtocol(PunctualProtocol):
    head_s = LIMIT_S


async def echo(scope, receive, send) -> None:
    """Answer with the length of the body, after twice the time that a head may take."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    if scope["path"] == "/slow":
        await asyncio.sleep(2 * LIMIT_S)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]})
    await send({"type": "http.response.body", "body": b"%d" % len(body)})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(echo, http=QuickProtocol, log_level="critical", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()


def everything(connection: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    got = b""
    try:
        while piece := connection.recv(4096):
            got += piece
    except ConnectionResetError:
        pass
    return got


@pytest.mark.parametrize("trickle", [b"", b"GET / HTTP/1.1\r\nhost: a\r\nx: "])
def test_a_head_that_never_ends_is_given_up(port: int, trickle: bytes) -> None:
    begun = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        for number in range(4 if trickle else 0):  # each byte in time, the head never
            connection.sendall(trickle if not number else b"y")
            time.sleep(LIMIT_S / 5)
        assert everything(connection).startswith(b"HTTP/1.1 408 ")
    assert LIMIT_S * 0.9 < time.monotonic() - begun < 30


def test_the_second_head_of_a_connection_has_a_limit_too(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        connection.sendall(b"GET / HT")
        assert b" 408 " in everything(connection)


def test_slow_bodies_and_slow_answers_are_none_of_its_business(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(b"POST /slow HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\na")
        time.sleep(1.5 * LIMIT_S)
        connection.sendall(b"bc")
        got = b""
        while not got.endswith(b"3"):
            got += connection.recv(4096)
        assert got.startswith(b"HTTP/1.1 200 ")
        time.sleep(1.5 * LIMIT_S)  # nothing asked: uvicorn's limit for idle connections, which is longer
        connection.sendall(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")


def test_the_limit_of_the_site() -> None:
    assert PunctualProtocol.head_s == HEAD_S == 20
