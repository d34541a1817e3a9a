"""A headless Chromium on a pipe, for tests of pages that have a script; no package is needed for it."""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Browser", "chromium", "needs_chromium"]

PATIENCE_S = 60.0
# the browser reads from 3 and writes to 4
_EXEC = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); "
    "os.execv(sys.argv[3], sys.argv[3:])"
)


def chromium() -> str | None:
    """Return the browser of this machine, None if there is none."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


def _pipe() -> tuple[int, int]:
    """Return a pipe whose ends don't stand where the browser wants its own."""
    low = os.pipe()
    ends = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low)
    for end in low:
        os.close(end)
    return ends[0], ends[1]


# In CI a missing browser is a failure, never a skip.
needs_chromium = pytest.mark.skipif(
    chromium() is None and not os.environ.get("CI"), reason="there is no Chromium on this machine"
)


class Browser:
    """One page; messages go over two pipes, each ended by a zero byte."""

    def __init__(self, program: str, profile: Path, *, width: int = 1200, height: int = 900) -> None:
        take, self._out = _pipe()
        self._in, give = _pipe()
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-c", _EXEC, str(take), str(give)),
                program,
                "--headless",
                "--no-sandbox",  # tests may run as root
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                f"--user-data-dir={profile}",
                f"--window-size={width},{height}",
                "--remote-debugging-pipe",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(take, give),
        )
        os.close(take)
        os.close(give)
        self._ids = itertools.count(1)
        self._came: deque[dict[str, Any]] = deque()
        self._more = threading.Condition()
        self.events: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session: str | None = None
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    _session: str | None = None

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._ids)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE_S
        with self._more:
            while True:
                for answer in list(self._came):
                    if answer["id"] == number:
                        self._came.remove(answer)
                        assert "error" not in answer, answer
                        result = answer["result"]
                        assert isinstance(result, dict)
                        return result
                assert self._more.wait(end - time.monotonic()), f"no answer to {method}"

    def run(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, expression: str) -> Any:
        """Wait until a JavaScript expression is true in the page."""
        end = time.monotonic() + PATIENCE_S
        while not (found := self.run(f"!!({expression})")):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.02)
        return found

    def open(self, address: str) -> None:
        self.call("Page.navigate", url=address)
        self.until(f"location.href.startsWith({json.dumps(address)}) && document.readyState === 'complete'")

    def press(self, key: str, code: int) -> None:
        text = {"Enter": "\r"}.get(key, "")  # without it nothing is typed, and a summary isn't unfolded
        for kind in ("keyDown" if text else "rawKeyDown", "keyUp"):
            typed = {"text": text} if text and kind == "keyDown" else {}
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **typed
            )

    def complaints(self) -> list[str]:
        """Return what the browser logged as errors, and exceptions of scripts."""
        found = []
        for event in self.events:
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(event["params"]["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(str(event["params"]["entry"]["text"]) + str(event["params"]["entry"].get("url")))
        return found

    def _read(self) -> None:
        rest = b""
        while True:
            try:
                piece = os.read(self._in, 65536)
            except OSError:
                return
            if not piece:
                return
            *whole, rest = (rest + piece).split(b"\0")
            with self._more:
                for text in whole:
                    message = json.loads(text)
                    (self._came if "id" in message else self.events).append(message)
                self._more.notify_all()

    def show(self, page: Path, *, width: int = 1200, scheme: str = "light", media: str = "") -> None:
        """Open a page from the disk, on a screen of this width and in a colour scheme."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=800,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)
        self.open("about:blank")
        self.events.clear()
        self.open(page.as_uri())

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        os.close(self._out)
        os.close(self._in)
