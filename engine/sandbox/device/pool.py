"""A pool of one-shot workers: while one runs a submission, the next is being started."""

from __future__ import annotations

import functools
import itertools
import queue
import threading
from concurrent.futures import Future, ThreadPoolExecutor

from engine.errors import EngineError, RunnerLostError, SandboxError
from engine.runner import Job, RunResult
from engine.sandbox.device.worker import DeviceWorker
from engine.sandbox.dialogue import Dialogue
from engine.sandbox.inputs import EncodedPlan
from engine.sandbox.process import Exchange, run_job

__all__ = ["WorkerPool"]


class WorkerPool:
    """Workers for one device; safe to use from several threads.

    Parameters
    ----------
    device : {"cuda", "cpu"}
        ``"cpu"`` runs the very same code without a GPU: for tests.
    base : {"T2", "T3"}
        Which layers the workers put up, as far as a process with a GPU can bear them.
    slots : int
        How many submissions run at the same time; as many workers wait beside them.
    off : frozenset of str
        Layers switched off, by tests only.
    """

    def __init__(self, device: str, *, base: str, slots: int, off: frozenset[str] = frozenset()) -> None:
        self.tier = f"{base}-{device}"
        self._device = device
        self._walled = base == "T2"
        self._off = off
        self._numbers = itertools.count()
        # one thread starts all workers and lives as long as they: see DeviceWorker's notes
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="worker-starter")
        self._seats = threading.Semaphore(slots)
        self._lock = threading.Lock()
        self._closed = False
        self._waiting: queue.SimpleQueue[Future[DeviceWorker]] = queue.SimpleQueue()
        for _ in range(slots):
            self._waiting.put(self._start())

    def _start(self) -> Future[DeviceWorker]:
        number = next(self._numbers)
        return self._starter.submit(
            DeviceWorker, self._device, walled=self._walled, number=number, off=self._off
        )

    def check(self) -> str:
        """Wait until a worker is ready; return the device's own name.

        Raises
        ------
        NoDeviceError, SandboxError
            If none can be had.
        """
        future = self._waiting.get()
        self._waiting.put(future)
        return _worker(future).wait_ready()

    def take(self) -> DeviceWorker:
        """Return a worker that nobody else has, and have the next one started."""
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox is closed")
            future = self._waiting.get()
            self._waiting.put(self._start())
        return _worker(future)

    def run(self, job: Job) -> RunResult:
        """Run one job to its end or to its limits; wait for a free slot first.

        Raises
        ------
        RunnerLostError
            If a worker was lost for a cause that isn't the code's own.
        SandboxError
            If a worker can't be started or a layer failed: no student code ran.
        """
        with self._seats:
            return run_job(job, self.tier, functools.partial(self._begin, job))

    def _begin(self, job: Job, dialogue: Dialogue, plan: EncodedPlan, left_s: float) -> Exchange:
        try:
            return self._begin_once(job, dialogue, plan, left_s)
        except RunnerLostError:  # a worker died while it waited; no student code ran in it
            return self._begin_once(job, dialogue, plan, left_s)

    def _begin_once(self, job: Job, dialogue: Dialogue, plan: EncodedPlan, left_s: float) -> Exchange:
        worker = self.take()
        try:
            return worker.begin(dialogue, job.limits, plan, left_s)
        except BaseException:
            worker.close()
            raise

    def close(self) -> None:
        """End all waiting workers; those that run a job end with it."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        while not self._waiting.empty():
            try:
                self._waiting.get().result().close()
            except (EngineError, OSError):
                continue
        self._starter.shutdown()


def _worker(future: Future[DeviceWorker]) -> DeviceWorker:
    try:
        return future.result()
    except OSError as error:
        raise SandboxError("a process for student code couldn't be started", got=str(error)) from None
