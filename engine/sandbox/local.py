"""T3: a fresh process per submission with deadlines and what limits the system has.

It works on macOS and Windows and stops accidents (endless loops, memory, crashes), not intent:
the process can read files, write them and use the network with the rights of whoever started it.
"""

from __future__ import annotations

import functools
import os
import queue
import signal
import sys
import tempfile
import threading
from collections.abc import Collection
from types import TracebackType
from typing import Self

from engine.errors import SandboxError
from engine.runner import CallOutcome, Job, RunResult
from engine.sandbox.dialogue import Dialogue
from engine.sandbox.inputs import EncodedPlan
from engine.sandbox.layout import find_layout
from engine.sandbox.process import TIMED_OUT, Exchange, Exit, PipedProcess, crashed, run_job
from engine.sandbox.results import has_tensors

__all__ = ["LocalRunner", "local_process"]

_BOOTSTRAP = """
import sys
worker, inside, *path = sys.argv[1:]
sys.path[:] = [*path, inside]
sys.argv[:] = [""]
import importlib
main = importlib.import_module(worker).main
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
        self._seats = threading.Semaphore(slots)
        self._spare: queue.SimpleQueue[PipedProcess] = queue.SimpleQueue()
        self._closed = False
        for _ in range(slots):
            self._spare.put(local_process("worker"))

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
        with self._seats:
            try:
                return run_job(job, self.tier, functools.partial(self._begin, job))
            finally:
                if not self._closed:
                    self._spare.put(local_process("worker"))

    def _begin(self, job: Job, dialogue: Dialogue, plan: EncodedPlan, left_s: float) -> Exchange:
        try:
            process = self._spare.get_nowait()
        except queue.Empty:  # an earlier process of this job took it
            process = local_process("worker")
        exchange = Exchange(process, dialogue, job.limits, plan, _outcome_of_exit)
        try:
            exchange.start(_settings(job), left_s)
        except BaseException:
            exchange.close()
            raise
        return exchange

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


def local_process(worker: str, keep: Collection[str] = ()) -> PipedProcess:
    """Start ``main`` of ``inside/<worker>.py`` in an interpreter of its own, on any system.

    Of the grader's environment it gets what Windows and temporary files need, and the names in `keep`.
    """
    layout = find_layout()
    kept = ("SYSTEMROOT", "TMP", "TEMP", "TMPDIR", *keep)
    environment = {k: v for k, v in os.environ.items() if k in kept}
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-I", "-S", "-c", _BOOTSTRAP, f"inside.{worker}", str(layout.inside.parent)]
    return PipedProcess([*command, *map(str, layout.module_path)], environment, tempfile.gettempdir())


def _settings(job: Job) -> dict[str, object]:
    return {
        "torch": any("torch" in text for text in (job.source, *job.modules.values())) or has_tensors(job),
        "packages": list(find_layout().package_names),
    }


def _outcome_of_exit(end: Exit) -> CallOutcome:
    """Return what the end of the process says about the call that it was in."""
    if end.code is not None and hasattr(signal, "SIGXCPU") and -end.code in (signal.SIGXCPU, signal.SIGKILL):
        return TIMED_OUT
    return crashed(end)
