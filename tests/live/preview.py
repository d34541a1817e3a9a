"""A running ``grade preview``."""

from __future__ import annotations

import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["PATIENCE_S", "Preview"]

ROOT = Path(__file__).parents[2]
PATIENCE_S = 90.0


class Preview:
    """A running ``grade preview`` on a free port."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        environment = os.environ | {"SOFTMARK_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            [sys.executable, str(ROOT / "cli.py"), "preview", "--no-browser", "--port", "0", *arguments],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        assert self._process.stdout is not None
        # both lines: what a reader has buffered when the first is taken, communicate() wouldn't give back
        self.said = self._process.stdout.readline() + self._process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", self.said)
        assert found, self.end()
        self.port = int(found[1])

    def ask(self, path: str = "/", method: str = "GET", host: str | None = None) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request(method, path, headers={"Host": host or f"127.0.0.1:{self.port}"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8")
        finally:
            connection.close()

    def events(self) -> Iterator[str]:
        """Yield the numbers that an open page is told; ends when the server ends it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            connection.request("GET", "/events", headers={"Host": f"127.0.0.1:{self.port}"})
            answer = connection.getresponse()
            assert answer.getheader("content-type", "").startswith("text/event-stream")
            while line := answer.readline():
                if line.startswith(b"data: "):
                    yield line.decode().removeprefix("data: ").strip()
        finally:
            connection.close()

    def page_with(self, words: str, events: Iterator[str]) -> str:
        """Wait for an event after which the page holds these words."""
        for _ in events:
            status, page = self.ask()
            assert status == 200
            if words in page:
                return page
        raise AssertionError(f"the page never held {words!r}")

    def interrupt(self) -> int:
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(PATIENCE_S)

    def end(self) -> str:
        if self._process.poll() is None:
            self._process.kill()
        out, err = self._process.communicate()
        return self.said + out + err
