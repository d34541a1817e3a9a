"""Bodies sent piece by piece over a plain connection, by a client that looks for the answer meanwhile."""

from __future__ import annotations

import os
import select
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.live.quiz_visitor import QuizVisitor
from tests.live.site import LiveSite

__all__ = ["StreamedAnswer", "Watch", "multipart_head", "stream", "watched"]

BOUNDARY = "softmark-test"
PIECE = b"\0" * (64 << 10)
PATIENCE_S = 60.0
_LEAST = 5


@dataclass
class StreamedAnswer:
    """What came back, and how much was sent until then."""

    text: str = ""
    sent: int = 0
    seconds: float = 0.0
    was_cut: bool = False

    @property
    def status(self) -> int:
        return int(self.text.split(" ", 2)[1]) if self.text else 0


def multipart_head(name: str, filename: str | None) -> bytes:
    """Return the head of a form's part; a field where it has no file name."""
    more = f'; filename="{filename}"' if filename is not None else ""
    return (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{more}\r\n'
        f"Content-Type: application/octet-stream\r\n\r\n"
    ).encode()


def stream(
    site: LiveSite,
    path: str,
    head: bytes,
    size: int,
    *,
    cookie: str = "",
    length: int | None = None,
    kind: str = f"multipart/form-data; boundary={BOUNDARY}",
    is_deaf: bool = False,
) -> StreamedAnswer:
    """Send `head` and then zeros, `size` bytes together, until the site answers or cuts the connection.

    Parameters
    ----------
    length : int, optional
        What Content-Length says; None sends chunks without.
    is_deaf : bool
        Send on to the end whatever comes back, as a browser does that reads only then.
    """
    answer, began = StreamedAnswer(), time.monotonic()
    way = f"Content-Length: {length}" if length is not None else "Transfer-Encoding: chunked"
    with socket.create_connection(("127.0.0.1", site.port)) as connection:
        connection.settimeout(PATIENCE_S)
        connection.sendall(
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{site.port}\r\nContent-Type: {kind}\r\n"
            f"Cookie: softmark-session={cookie}\r\n{way}\r\n\r\n".encode()
        )
        try:
            for piece in _pieces(head, size):
                if not is_deaf and select.select([connection], [], [], 0)[0]:
                    break
                framed = piece if length is not None else b"%x\r\n%b\r\n" % (len(piece), piece)
                connection.sendall(framed)
                answer.sent += len(piece)
        except ConnectionError:
            answer.was_cut = True
        answer.text = _received(connection)
    answer.seconds = time.monotonic() - began
    return answer


def _pieces(head: bytes, size: int) -> Iterator[bytes]:
    yield head
    left = size - len(head)
    while left > 0:
        yield PIECE[:left]
        left -= len(PIECE)


def _received(connection: socket.socket) -> str:
    got = b""
    try:
        # Its head and the page; the connection stays open until the site is tired of us.
        while b"</html>" not in got and (more := connection.recv(1 << 16)):
            got += more
    except (ConnectionError, TimeoutError):
        pass
    return got.decode("utf-8", "replace")


@dataclass
class Watch:
    """What somebody else sees meanwhile: seconds of saves, and the server's memory in MiB.

    Before it begins, `quiet` says how long a save takes: the machine may have other work. While it runs,
    `stalls` says how late a thread woke up that only writes a few bytes to the disk: a save waits as long
    for the machine, and that isn't the site's doing.
    """

    quiet: float = 0.0
    saves: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    stalls: list[float] = field(default_factory=list)

    @property
    def growth(self) -> float:
        return max(self.memory) - self.memory[0]

    @property
    def is_held_up(self) -> bool:
        """Whether somebody else noticed it."""
        # A save takes the processor and the disk several times, and may stall each time.
        longest = 3 + 4 * self.quiet + 4 * max(self.stalls)
        return _median(self.saves) > 0.2 + 4 * self.quiet + _median(self.stalls) or max(self.saves) > longest


@contextmanager
def watched(site: LiveSite, student: str) -> Iterator[Watch]:
    """Save an answer again and again while the block runs, and look at the server's memory."""
    visitor, watch, stop = QuizVisitor(site, student), Watch(), threading.Event()

    def look() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            began = time.monotonic()
            assert visitor.save(f"0.{number:05}").status_code == 200
            watch.saves.append(time.monotonic() - began)
            watch.memory.append(_resident_mib(site.process.pid))
            stop.wait(0.05)

    def wait_for_the_machine() -> None:
        with tempfile.TemporaryFile(dir=site.folder) as file:
            while not stop.is_set():
                began = time.monotonic()
                stop.wait(0.02)
                file.write(b".")
                file.flush()
                os.fsync(file.fileno())
                watch.stalls.append(max(0.0, time.monotonic() - began - 0.02))

    thread, control = threading.Thread(target=look), threading.Thread(target=wait_for_the_machine)
    before = []
    for number in range(8):
        began = time.monotonic()
        visitor.save(f"1.{number}")
        before.append(time.monotonic() - began)
    watch.quiet = _median(before[3:])  # without what is loaded once
    watch.memory.append(_resident_mib(site.process.pid))
    thread.start()
    control.start()
    try:
        yield watch
        while len(watch.saves) < _LEAST and thread.is_alive():
            time.sleep(0.05)
    finally:
        stop.set()
        thread.join(PATIENCE_S)
        control.join(PATIENCE_S)
        visitor.close()
    assert len(watch.saves) >= _LEAST


def _median(seconds: list[float]) -> float:
    return sorted(seconds)[len(seconds) // 2]


def _resident_mib(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * 4096 / (1 << 20)
