"""T3: a fresh process per submission with deadlines and what limits the system has.

It works on macOS and Windows and stops accidents (endless loops, memory, crashes), not intent:
the process can read files, write them and use the network with the rights of whoever started it.
The workers for a GPU share the process, its pipes and the exchange with it.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import queue
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from subprocess import PIPE, Popen, TimeoutExpired
from typing import IO

from engine.errors import RunnerLostError, SandboxError
from engine.runner import CallOutcome, CallStatus, Job, Limits, Runner, RunResult
from engine.sandbox.bwrap import find_layout
from engine.sandbox.child.modules import NEEDS_MORE
from engine.sandbox.child.wire import FrameKind, pack
from engine.sandbox.confinement import interpreter_arguments
from engine.sandbox.replies import VIOLATION, ChildDialogue, JobResults
from engine.sandbox.requests import EncodedPlan, LibraryNeededError, encode_load, encode_plan, library_of
from engine.sandbox.zygote_handle import SAMPLE_S, CpuWait, GraderDelay

_CHUNK = 2**16
_SLACK_S = 0.3  # for the process to end itself first, and say why
# where the system doesn't say how long a process waited for a processor, deadlines leave room for it: the
# process limits its own processor time, so they are for code that sleeps
_PATIENCE = 1.0 if sys.platform == "linux" else 3.0
_START_S = 120.0  # a first import of torch from a cold disk
_END_S = 1.0
_REAP_S = 0.002  # between two looks for an end that is due at once
_OUTPUT_CAP = 2**16
TIMED_OUT = CallOutcome(CallStatus.TIMED_OUT, detail="It was stopped at the deadline.")


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """How a process ended whose output is closed.

    Parameters
    ----------
    code : int or None
        Exit status, negative for a signal; None if it had only closed its output and lived on.
    cpu_s : float
        Processor time of its whole life; 0 where the system doesn't say.
    """

    code: int | None
    cpu_s: float


def crashed(end: ProcessExit) -> CallOutcome:
    """Return the outcome of the call in which a process ended through its own doing."""
    if end.code is None:
        return CallOutcome(CallStatus.CRASHED, detail="The code closed the channel to the grader.")
    how = f"crashed (signal {-end.code})" if end.code < 0 else f"ended itself with exit status {end.code}"
    return CallOutcome(CallStatus.CRASHED, detail=f"The process {how}.")


class PipedProcess:
    """One process and its three pipes, which threads read and write: Windows can't poll pipes.

    Parameters
    ----------
    command : sequence of str
    environment : mapping
        All of it: nothing of the grader's own is added.
    folder : str
        Where it starts.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: str) -> None:
        self._process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, cwd=folder)
        self.arrived: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._printed = bytearray()
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stdin: IO[bytes] = self._process.stdin
        self._unsent: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=_read, args=(self._process.stdout, self.arrived.put), daemon=True),
            threading.Thread(target=_read, args=(self._process.stderr, self._keep_printed), daemon=True),
            threading.Thread(target=self._write, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def _keep_printed(self, data: bytes) -> None:
        self._printed += data[: max(0, _OUTPUT_CAP - len(self._printed))]

    def _write(self) -> None:
        """Write from a thread of its own: a process that doesn't read would block us."""
        with contextlib.suppress(OSError, ValueError):
            while (data := self._unsent.get()) is not None:
                self._stdin.write(data)
                self._stdin.flush()

    def send(self, data: bytes) -> None:
        """Queue bytes for the process."""
        self._unsent.put(data)

    def wait_exit(self) -> ProcessExit:
        """Return how a process ended that closed its output; kill it if it lingers."""
        code, cpu_s = self._reap(_END_S)
        if code is None:
            self._process.kill()
            self._process.wait()
        return ProcessExit(code, cpu_s)

    def _reap(self, patience_s: float) -> tuple[int | None, float]:
        """Wait as `Popen.wait` does, and learn the processor time too where the system tells it."""
        if not hasattr(os, "wait4"):
            with contextlib.suppress(TimeoutExpired):
                return self._process.wait(patience_s), 0.0
            return None, 0.0
        end = time.monotonic() + patience_s
        while True:
            pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
            if pid:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                return self._process.returncode, usage.ru_utime + usage.ru_stime
            if time.monotonic() >= end:
                return None, 0.0
            time.sleep(_REAP_S)

    def printed(self) -> bytes:
        """Return the beginning of what a finished process printed."""
        self._threads[1].join(_END_S)
        return bytes(self._printed)

    def forget_printed(self) -> None:
        """Drop what was printed so far: it was ours, not the submission's."""
        self._printed.clear()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._unsent.put(None)
        for thread in self._threads:
            thread.join(_END_S)
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


class ProcessExchange:
    """One conversation with a process.

    Parameters
    ----------
    process : PipedProcess
    dialogue : ChildDialogue
    limits : Limits
    plan : EncodedPlan
    judge : callable
        Says what the end of the process means for the call that it was in, from how it ended.
    """

    def __init__(
        self,
        process: PipedProcess,
        dialogue: ChildDialogue,
        limits: Limits,
        plan: EncodedPlan,
        judge: Callable[[ProcessExit], CallOutcome],
    ) -> None:
        self._process = process
        self._dialogue = dialogue
        self._limits = limits
        self._plan = plan
        self._judge = judge
        self.waited_s = 0.0

    def start(self, settings: Mapping[str, object], left_s: float) -> None:
        """Give the process its limits and wait until they are in force.

        Raises
        ------
        RunnerLostError
            If it ends before.
        SandboxError
            If it says that a layer failed.
        """
        cpu_s = max(1, math.ceil(left_s))
        limits = {"memory_mib": self._limits.memory_mib, "cpu_s": cpu_s}
        self._process.send(pack(FrameKind.LOAD, {**settings, **limits}))
        deadline = time.monotonic() + _START_S
        while not self._dialogue.locked:
            alive = self._receive(deadline - time.monotonic())
            if (layer := self._dialogue.broken) is not None:
                raise SandboxError("a layer of the sandbox failed; no student code ran", got=layer)
            if not alive or self._dialogue.violated:
                raise RunnerLostError("the process for student code couldn't be started")

    def run(self, load: bytes, left_s: float) -> CallOutcome | None:
        """Return what the end says about the call it was in, None if it came to its natural end.

        Time in which the process waited for a processor, or for us, doesn't count: see `waited_s`.
        """
        wait, delay = CpuWait(self._process.pid), GraderDelay()
        began = time.monotonic()
        self._process.send(load)
        progress, waited_before = began, 0.0
        while not self._dialogue.over:
            before = self._dialogue.next
            delay.expect(SAMPLE_S)
            alive = self._receive(SAMPLE_S)
            wait.sample()
            self.waited_s = wait.waited_s() + delay.late_s
            if alive is None:
                now = time.monotonic()
                late = now - began - self.waited_s > (left_s + _SLACK_S) * _PATIENCE
                in_call = now - progress - (self.waited_s - waited_before)
                call_s = self._limits.call_s if self._dialogue.plan_sent else math.inf
                if late or in_call > (call_s + _SLACK_S) * _PATIENCE:
                    return TIMED_OUT
                continue
            if not alive:
                return self._judge(self._process.wait_exit())
            if self._dialogue.wants_plan:
                self._dialogue.plan_sent = True
                self._process.send(self._plan.frame)
                before = -1  # the first call's clock starts now
            if self._dialogue.plan_sent and before != self._dialogue.next:
                progress, waited_before = time.monotonic(), self.waited_s
        return None

    def close(self) -> bytes:
        """End the process; return the beginning of what it printed."""
        self._process.close()
        return self._process.printed()

    def _receive(self, timeout_s: float) -> bool | None:
        """Feed the next bytes; False at the end of the stream, None where nothing came in time."""
        try:
            data = self._process.arrived.get(timeout=max(0.0, timeout_s))
        except queue.Empty:
            return None
        self._dialogue.feed(data)
        return bool(data)


def run_job(
    job: Job, tier: str, library: str, begin: Callable[[ChildDialogue, EncodedPlan, float], ProcessExchange]
) -> RunResult:
    """Run one job in as many processes as it takes, one after the other.

    Parameters
    ----------
    job : Job
    tier : str
    library : {"numpy", "torch"}
        What the processes have loaded.
    begin : callable
        Takes the dialogue, the plan and the seconds that are left, and returns an exchange that has
        been started; its `close` is called at the end.
    """
    plan = encode_plan(job)
    results = JobResults(job, tier, library)
    spent_s = 0.0
    printed = bytearray()
    while (first := results.next_call(job.limits.wall_s - spent_s)) is not None:
        left_s = job.limits.wall_s - spent_s
        dialogue = ChildDialogue(first, plan.count, results.bytes_left, results.nodes_left)
        exchange = begin(dialogue, plan, left_s)
        try:
            began = time.monotonic()
            end = exchange.run(
                encode_load(job, first, left_s, results.bytes_left, results.nodes_left), left_s
            )
            spent_s += time.monotonic() - began - exchange.waited_s
        finally:
            printed += exchange.close()
        if dialogue.violated:
            results.violate(CallOutcome(CallStatus.PROTOCOL_VIOLATION, detail=VIOLATION))
        else:
            results.merge(dialogue, end)
    return results.finish(bytes(printed[:_OUTPUT_CAP]))


class LocalRunner(Runner):
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
            self._spare.put(local_process("local_worker"))

    @property
    def tier(self) -> str:
        """``"T3"``."""
        return "T3"

    def run(self, job: Job) -> RunResult:
        """Run one job to its end or to its limits; wait for a free slot first."""
        if self._closed:
            raise SandboxError("the sandbox is closed")
        with self._seats:
            try:
                # torch loads its compiler itself here, in the submission's own time
                return self._run_with(library_of(job, encode_plan(job)).partition(".")[0], job)
            except LibraryNeededError:
                return self._run_with("torch", job)
            finally:
                if not self._closed:
                    self._spare.put(local_process("local_worker"))

    def _run_with(self, library: str, job: Job) -> RunResult:
        return run_job(job, self.tier, library, functools.partial(self._begin, library, job))

    def _begin(
        self, library: str, job: Job, dialogue: ChildDialogue, plan: EncodedPlan, left_s: float
    ) -> ProcessExchange:
        try:
            process = self._spare.get_nowait()
        except queue.Empty:  # an earlier process of this job took it
            process = local_process("local_worker")
        judge = functools.partial(_outcome_of_exit, library)
        exchange = ProcessExchange(process, dialogue, job.limits, plan, judge)
        settings = {"torch": library == "torch", "packages": list(find_layout().package_names)}
        try:
            exchange.start(settings, left_s)
        except BaseException:
            exchange.close()
            raise
        return exchange

    def close(self) -> None:
        """Give back all processes."""
        self._closed = True
        while not self._spare.empty():
            self._spare.get().close()


def local_process(part: str, variables: Collection[str] = ()) -> PipedProcess:
    """Start ``main`` of ``child/<part>.py`` in an interpreter of its own, on any system.

    Of the grader's environment it gets what Windows and temporary files need, and `variables`.
    """
    names = ("SYSTEMROOT", "TMP", "TEMP", "TMPDIR", *variables)
    environment = {name: value for name, value in os.environ.items() if name in names}
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-I", *interpreter_arguments(find_layout(), part)]
    return PipedProcess(command, environment, tempfile.gettempdir())


def _outcome_of_exit(library: str, end: ProcessExit) -> CallOutcome:
    """Return what the end of the process says about the call that it was in."""
    if end.code == NEEDS_MORE and library == "numpy":
        raise LibraryNeededError
    if end.code is not None and hasattr(signal, "SIGXCPU") and -end.code in (signal.SIGXCPU, signal.SIGKILL):
        return TIMED_OUT
    return crashed(end)
