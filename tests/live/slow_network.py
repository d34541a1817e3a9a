"""A network that takes its time: a proxy before the tests' server that hands each byte on later.

Whoever connects through it sees every byte so many seconds after it was sent, in both directions; how much
passes in a second isn't limited. It counts round trips: how often a client says something after an answer.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit, urlunsplit

from tests.live.postgres import Server

__all__ = ["SlowNetwork", "slow_network"]


class SlowNetwork:
    """The way to a server.

    Parameters
    ----------
    server : Server
    delay_s : float
        Each way.
    """

    def __init__(self, server: Server, delay_s: float) -> None:
        self.delay_s = delay_s
        self.trips = 0
        self.port = 0
        self._socket = server.folder / ".s.PGSQL.5432"
        self._loop = asyncio.new_event_loop()
        self._is_open = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._is_open.wait(60.0)

    def address(self, url: str) -> str:
        """Return the address of a database (:meth:`Server.url`) over this network."""
        parts = urlsplit(url)
        place = f"{parts.username}:{parts.password}@127.0.0.1:{self.port}"
        return urlunsplit((parts.scheme, place, parts.path, "", ""))

    def close(self) -> None:
        """Cut all connections."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60.0)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        listening = self._loop.run_until_complete(asyncio.start_server(self._connect, "127.0.0.1", 0))
        self.port = listening.sockets[0].getsockname()[1]
        self._is_open.set()
        self._loop.run_forever()
        listening.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.run_until_complete(asyncio.sleep(0))  # their connections are closed in the next round
        self._loop.close()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, away = await asyncio.open_unix_connection(str(self._socket))
        said: list[str] = []  # who said something last

        def note(who: str) -> None:
            if who == "client" and said != [who]:
                self.trips += 1
            said[:] = [who]

        # Cancelled when the network is closed: streams would say so as if it were a fault.
        with suppress(asyncio.CancelledError):
            await asyncio.gather(
                self._carry(reader, away, lambda: note("client")),
                self._carry(there, writer, lambda: note("server")),
            )
        away.transport.abort()
        writer.transport.abort()

    async def _carry(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, note: Callable[[], None]
    ) -> None:
        # What is sent while something else is on its way isn't held up by it.
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        async with asyncio.TaskGroup() as both:
            both.create_task(self._arrive(under_way, target))
            data = b"-"
            while data:
                try:
                    data = await source.read(2**16)
                except ConnectionError:
                    data = b""
                if data:
                    note()
                under_way.put_nowait((self._loop.time() + self.delay_s, data))

    async def _arrive(
        self, under_way: asyncio.Queue[tuple[float, bytes]], target: asyncio.StreamWriter
    ) -> None:
        data = b"-"
        while data:
            due, data = await under_way.get()
            await asyncio.sleep(due - self._loop.time())
            with suppress(ConnectionError):
                target.write(data) if data else target.close()
                await target.drain()


@contextmanager
def slow_network(server: Server, delay_s: float) -> Iterator[SlowNetwork]:
    """Open a way to a server that takes so many seconds each way, and close it."""
    network = SlowNetwork(server, delay_s)
    try:
        yield network
    finally:
        network.close()
