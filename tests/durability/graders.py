"""Graders that can be killed, and the sandbox that they share: what the kill tests stand on."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Any

from engine.errors import SoftmarkError
from engine.sandbox import open_runner
from engine.sandbox.zygote_runner import SandboxRunner

__all__ = ["End", "Graders", "SharedSandbox", "graders"]

ROOT = Path(__file__).parents[2]


class SharedSandbox:
    """One sandbox behind a socket; it writes down the source of every job."""

    def __init__(self, runner: SandboxRunner, address: str) -> None:
        self.address = address
        self.runner = runner
        self.sources: list[str] = []
        self._listener = Listener(address, backlog=16)
        self._closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection = self._listener.accept()
            except (OSError, EOFError):  # closed, or a grader was killed while it called
                continue
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        # A grader that is killed closes its end: then there is nobody to answer.
        with connection, contextlib.suppress(OSError, EOFError):
            while True:
                job = connection.recv()
                self.sources.append(job.source)
                try:
                    connection.send(self.runner.run(job))
                except SoftmarkError as error:
                    connection.send(str(error))

    def zygotes(self) -> list[int]:
        """Return the numbers of the processes that student code is forked from: one or two a slot."""
        for slot in self.runner._slots:
            slot["numpy"].begin()
        started = [nest._pending for slot in self.runner._slots for nest in slot.values()]
        return [pending.result()._process.pid for pending in started if pending is not None]

    def close(self) -> None:
        self._closed = True
        self._listener.close()


@dataclass(frozen=True)
class End:
    """How a grader ended; ``sources`` are those of the code that was run meanwhile."""

    signal: int
    code: int
    said: str
    sources: tuple[str, ...]

    @property
    def was_killed(self) -> bool:
        return self.signal == 9


class Graders:
    """A process that forks graders."""

    def __init__(self, sandbox: SharedSandbox, folder: Path, warm_up: Sequence[str]) -> None:
        self.sandbox = sandbox
        self._folder = folder
        self._forge = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("forge.py"), sandbox.address, *warm_up],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=os.environ | {"PYTHONPATH": str(ROOT), "SOFTMARK_HOME": str(folder / "home")},
        )
        (self.first,) = self._answer(1)

    def run(self, *words: object, **how: Any) -> End:
        """Let one grader work; as :meth:`run_all`."""
        return self.run_all([words], **how)[0]

    def run_all(
        self,
        works: Sequence[Sequence[object]],
        *,
        crash_at: str = "",
        kill_after_s: float | None = None,
        store: str = "",
        busy_timeout_s: float = 30.0,
        file_bytes: int | None = None,
    ) -> list[End]:
        """Let several graders work at the same time.

        Each is killed at a named place, after some time, or not at all; it waits for a locked store for
        `busy_timeout_s`, and may write no file larger than `file_bytes`.
        """
        self.sandbox.sources.clear()
        environment = {"SOFTMARK_CRASH_AT": crash_at, "SOFTMARK_STORE": store}
        runs = [
            {
                "do": [str(word) for word in words],
                "env": environment,
                "log": str(self._folder / f"log-{number}"),
                "kill_after_s": kill_after_s,
                "busy_timeout_s": busy_timeout_s,
                "file_bytes": file_bytes,
            }
            for number, words in enumerate(works)
        ]
        assert self._forge.stdin is not None
        self._forge.stdin.write(json.dumps({"runs": runs}) + "\n")
        self._forge.stdin.flush()
        return self._answer(len(runs))

    def _answer(self, count: int) -> list[End]:
        assert self._forge.stdout is not None
        line = self._forge.stdout.readline()
        assert line, f"the forge ended with {self._forge.wait()}"
        logs = [self._folder / f"log-{number}" for number in range(count)]
        said = [log.read_text() if log.exists() else "" for log in logs]
        sources = tuple(self.sandbox.sources)
        return [End(e["signal"], e["code"], s, sources) for e, s in zip(json.loads(line), said, strict=True)]

    def close(self) -> None:
        self._forge.communicate()


@contextmanager
def graders(folder: Path, warm_up: Sequence[object], slots: int = 2) -> Iterator[Graders]:
    """Open the sandbox and start the process that forks; its first run is `warm_up` (words of ``grade``)."""
    with open_runner(slots=slots) as runner:
        assert isinstance(runner, SandboxRunner)
        sandbox = SharedSandbox(runner, str(folder / "socket"))
        started = Graders(sandbox, folder, [str(word) for word in warm_up])
        try:
            yield started
        finally:
            started.close()
            sandbox.close()
