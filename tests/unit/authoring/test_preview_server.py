"""What open pages are told, and which port is taken."""

from __future__ import annotations

import asyncio
import socket
import threading
from datetime import datetime
from pathlib import Path

import pytest

from engine.authoring.preview.follow import PreviewState
from engine.authoring.preview.server import MAX_STREAMS, PageHub, bind
from engine.errors import UsageError

NOW = datetime(2026, 11, 28).astimezone()


def hub() -> PageHub:
    return PageHub(PreviewState(NOW), Path("mine.yaml"))


def test_a_page_is_told_the_number_at_once_and_on_every_change() -> None:
    given = hub()

    async def listen() -> list[str]:
        events = given.events()
        told = [await anext(events), await anext(events)]
        threading.Thread(target=given.show, args=(PreviewState(NOW),)).start()
        told.append(await asyncio.wait_for(anext(events), 10))
        given.close()
        told += [event async for event in events]
        return told

    retry, first, second = asyncio.run(listen())
    assert retry == "retry: 1000\n\n"
    assert first != second == f"data: {given.number}\n\n"


def test_a_change_between_two_events_is_told_once() -> None:
    given = hub()

    async def listen() -> str:
        events = given.events()
        await anext(events)
        await anext(events)
        given.show(PreviewState(NOW))
        given.show(PreviewState(NOW))
        found = await asyncio.wait_for(anext(events), 10)
        await events.aclose()
        return found

    assert asyncio.run(listen()) == f"data: {given.number}\n\n"


def test_a_waiting_page_gets_a_sign_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.authoring.preview.server._KEEP_ALIVE_S", 0.01)
    given = hub()

    async def listen() -> str:
        events = given.events()
        found = [await anext(events) for _ in range(3)][-1]
        await events.aclose()
        return found

    assert asyncio.run(listen()).startswith(":")


def test_a_page_of_an_earlier_run_never_has_our_number() -> None:
    assert hub().number != hub().number
    given = hub()
    before = given.number
    assert given.page() is given.page(), "it is made once"
    assert f'data-number="{before}"' in given.page()
    given.show(PreviewState(NOW))
    assert f'data-number="{given.number}"' in given.page() and given.number != before


def test_the_socket_listens_on_this_machine_only() -> None:
    with bind(0) as listening:
        host, port = listening.getsockname()
        assert host == "127.0.0.1" and port > 0
        with pytest.raises(UsageError, match=f"port {port} is in use") as refused:
            bind(port)
    assert refused.value.exit_code == 2 and "--port 0" in (refused.value.next_step or "")
    with bind(port) as again:  # a port is free again at once
        assert again.getsockname() == (host, port)


def test_a_port_that_may_not_be_used_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: socket.socket, address: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    with pytest.raises(UsageError, match="port 80 can't be used"):
        bind(80)


def test_of_too_many_streams_the_oldest_gives_way_and_the_newest_is_served() -> None:
    hub = PageHub(PreviewState(NOW), Path("mine.yaml"))

    async def listen() -> tuple[int, list[str]]:
        streams = [hub.events() for _ in range(MAX_STREAMS + 20)]
        for stream in streams:
            await asyncio.wait_for(anext(stream), 10)
        ended = 0
        for stream in streams[:20]:  # told to end: at most what it had to say still comes
            ended += len([event async for event in stream]) <= 1
        newest = await asyncio.wait_for(anext(streams[-1]), 10)
        for stream in streams:
            await stream.aclose()
        return ended, [newest]

    ended, newest = asyncio.run(asyncio.wait_for(listen(), 60))
    assert ended == 20 and newest[0].startswith("data: ")
