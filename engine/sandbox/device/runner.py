"""The runner behind ``--device``: tensors go to the device's workers, all else to the CPU's runner."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from engine.errors import SandboxError
from engine.runner import Job, Runner, RunResult
from engine.sandbox.device.pool import WorkerPool
from engine.sandbox.results import has_tensors

__all__ = ["DeviceRunner"]


class DeviceRunner:
    """Runs jobs with torch tensors on a device; safe to call from several threads.

    A job without tensors (a numpy submission, a search over lists) has nothing to put on a device:
    it runs where it always does, and its result names that tier.

    Parameters
    ----------
    pool : WorkerPool
        Closed with the runner.
    open_plain : callable
        Opens the runner for jobs without tensors; called when the first comes.
    """

    def __init__(self, pool: WorkerPool, open_plain: Callable[[], Runner]) -> None:
        self._pool = pool
        self._open_plain = open_plain
        self._plain: Runner | None = None
        self._lock = threading.Lock()
        self._closed = False

    @property
    def tier(self) -> str:
        """The tier of jobs with tensors: ``"T2-cuda"`` or ``"T3-cuda"``."""
        return self._pool.tier

    def run(self, job: Job) -> RunResult:
        """Run one job to its end or to its limits.

        Raises
        ------
        RunnerLostError
            If the process was lost for a cause that isn't the code's own.
        SandboxError
            If a worker can't be started or a layer failed.
        """
        return self._pool.run(job) if has_tensors(job) else self._plain_runner().run(job)

    def _plain_runner(self) -> Runner:
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox is closed")
            if self._plain is None:
                self._plain = self._open_plain()
            return self._plain

    def close(self) -> None:
        """Give back all processes."""
        with self._lock:
            self._closed = True
            plain = self._plain
        self._pool.close()
        if plain is not None:
            plain.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
