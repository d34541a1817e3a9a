"""T3: a fresh process per submission with deadlines and what limits the system has.

It works on macOS and Windows and stops accidents (endless loops, memory, crashes), not intent:
the process can read files, write them and use the network with the rights of whoever started it.
"""

from __future__ import annotations

import contextlib
import math
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import IO, Self

from engine.errors import RunnerLostError, SandboxError
from engine.runner import CallOutcome, CallStatus, Job, Leaf, RunResult
from engine.sandbox.dialogue import VIOLATION, Dialogue, EncodedPlan, encode_load, encode_plan
from engine.sandbox.inside.wire import Kind, pack
from engine.sandbox.layout import find_layout
from engine.sandbox.results import Results

__all__ = ["LocalRunner"]

_CHUNK = 2**16
_SLACK_S = 0.3
_START_S = 120.0
_OUTPUT_KEPT = 2**16
_TIMED_OUT = CallOutcome(CallStatus.TIMED_OUT, detail="It was stopped at the deadline.")
_BOOTSTRAP = """
import sys
inside, *path = sys.argv[1:]
sys.path[:] = [*path, inside]
sys.argv[:] = [""]
import importlib
main = importlib.import_module("inside.worker").main
sys.path.remove(inside)
main()
"""


class LocalRunner:
    """Runs jobs in processes of their own; safe to call from several threads.

    Parameters
    ----------
    slots : int
        How many submissions run at the same time; the next process of each is started ahead.
    """

    def __init__(self, slots: int) -> None:
        self._spare: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._closed = False
        for _ in range(slots):
            self._spare.put(_Worker())

    @property
    def tier(self) -> str:
        """``"T3"``."""
        return "T3"

    def run(self, job: Job) -> RunResult:
        """Run one job to its end or to its limits; wait for a free slot first.

        Raises
        ------
        RunnerLostError
            If the process can't be started.
        """
        if self._closed:
            raise SandboxError("the sandbox is closed")
        plan = encode_plan(job)
        results = Results(job, self.tier)
        spent_s = 0.0
        printed = bytearray()
        while (first := results.next_call(job.limits.wall_s - spent_s)) is not None:
            worker = self._spare.get()
            try:
                left_s = job.limits.wall_s - spent_s
                dialogue = Dialogue(first, plan.count, results.bytes_left)
                exchange = _Exchange(worker, dialogue, job, plan)
                exchange.start(job, left_s)
                began = time.monotonic()
                end = exchange.run(encode_load(job, first, left_s, results.bytes_left), left_s)
                spent_s += time.monotonic() - began
                worker.close()
                printed += worker.printed()
            finally:
                worker.close()
                if not self._closed:
                    self._spare.put(_Worker())
            if dialogue.violated:
                results.violate(CallOutcome(CallStatus.PROTOCOL_VIOLATION, detail=VIOLATION))
            else:
                results.merge(dialogue, end)
        return results.finish(bytes(printed[:_OUTPUT_KEPT]))

    def close(self) -> None:
        """Give back all processes."""
        self._closed = True
        while not self._spare.empty():
            self._spare.get().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Worker:
    """One process, its pipes read by threads (Windows can't poll pipes)."""

    def __init__(self) -> None:
        layout = find_layout()
        environment = {k: v for k, v in os.environ.items() if k in ("SYSTEMROOT", "TMP", "TEMP", "TMPDIR")}
        environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-I", "-S", "-c", _BOOTSTRAP, str(layout.inside.parent)]
        self._process = subprocess.Popen(
            [*command, *map(str, layout.module_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=tempfile.gettempdir(),
        )
        self.arrived: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._kept = bytearray()
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin: IO[bytes] = self._process.stdin
        self._unsent: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=_read, args=(self._process.stdout, self.arrived.put), daemon=True),
            threading.Thread(target=_read, args=(self._process.stderr, self._keep), daemon=True),
            threading.Thread(target=self._write, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _keep(self, data: bytes) -> None:
        self._kept += data[: max(0, _OUTPUT_KEPT - len(self._kept))]

    def _write(self) -> None:
        """Write from a thread of its own: a process that doesn't read would block us."""
        with contextlib.suppress(OSError, ValueError):
            while (data := self._unsent.get()) is not None:
                self._stdin.write(data)
                self._stdin.flush()

    def send(self, data: bytes) -> None:
        """Queue bytes for the process."""
        self._unsent.put(data)

    def wait_exit(self) -> int:
        """Return the exit status of a process that closed its output; kill it if it lingers."""
        try:
            return self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def printed(self) -> bytes:
        """Return the beginning of what a finished process printed."""
        self._threads[1].join(1.0)
        return bytes(self._kept)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._unsent.put(None)
        for thread in self._threads:
            thread.join(1.0)
        for pipe in (self._stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError, AttributeError):
                pipe.close()  # type: ignore[union-attr]


def _read(pipe: IO[bytes], take: Callable[[bytes], None]) -> None:
    """Pass on what arrives; an empty piece is the end."""
    while True:
        try:
            data = os.read(pipe.fileno(), _CHUNK)
        except (OSError, ValueError):
            data = b""
        take(data)
        if not data:
            return


class _Exchange:
    """One conversation with a worker."""

    def __init__(self, worker: _Worker, dialogue: Dialogue, job: Job, plan: EncodedPlan) -> None:
        self._worker = worker
        self._dialogue = dialogue
        self._limits = job.limits
        self._plan = plan

    def start(self, job: Job, left_s: float) -> None:
        """Give the worker its limits and wait until it is ready.

        Raises
        ------
        RunnerLostError
            If it doesn't start.
        """
        settings = {
            "torch": "torch" in job.source or _needs_torch(job),
            "packages": list(find_layout().package_names),
            "memory_mib": job.limits.memory_mib,
            "cpu_s": max(1, math.ceil(left_s)),
        }
        self._worker.send(pack(Kind.LOAD, settings))
        deadline = time.monotonic() + _START_S
        while not self._dialogue.locked:
            if not self._receive(deadline - time.monotonic()):
                raise RunnerLostError("the process for student code couldn't be started")

    def run(self, load: bytes, left_s: float) -> CallOutcome | None:
        """Return what the end says about the call it was in, None if it came to its natural end."""
        end = time.monotonic() + left_s + _SLACK_S
        self._worker.send(load)
        deadline = end
        while not self._dialogue.over:
            before = self._dialogue.next
            if not self._receive(deadline - time.monotonic()):
                late = time.monotonic() >= deadline
                return _TIMED_OUT if late else self._crash()
            if self._dialogue.wants_plan:
                self._dialogue.plan_sent = True
                self._worker.send(self._plan.frame)
                before = -1
            if self._dialogue.plan_sent and before != self._dialogue.next:
                deadline = min(end, time.monotonic() + self._limits.call_s + _SLACK_S)
        return None

    def _receive(self, timeout_s: float) -> bool:
        """Feed the next bytes; False at a deadline or at the end of the stream."""
        try:
            data = self._worker.arrived.get(timeout=max(0.0, timeout_s))
        except queue.Empty:
            return False
        self._dialogue.feed(data)
        return bool(data)

    def _crash(self) -> CallOutcome:
        status = self._worker.wait_exit()
        if hasattr(signal, "SIGXCPU") and -status in (signal.SIGXCPU, signal.SIGKILL):
            return _TIMED_OUT
        said = f"crashed (signal {-status})" if status < 0 else f"ended itself with exit status {status}"
        return CallOutcome(CallStatus.CRASHED, detail=f"The process {said}.")


def _needs_torch(job: Job) -> bool:
    return any(
        isinstance(value, Leaf) and value.library == "torch"
        for call in job.calls
        for value in (*call.args, *call.kwargs.values())
    )
