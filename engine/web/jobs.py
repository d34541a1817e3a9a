"""Long work that staff start on the site: one at a time of each kind, in a thread, with progress.

A job belongs to the server's process. What it writes goes into the store as it would from the command line,
so a killed server loses the job alone: started again, it does what is missing.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from engine.errors import SoftmarkError, UsageError
from engine.quiz import rules as quiz_rules
from engine.runs.code_exercises import GradingStoppedError
from engine.web.logs import note_fault

_MOST_FINISHED = 3  # results of a kind that are kept: a plan of a regrade can hold thousands of reports


class JobState(StrEnum):
    """How far a job is."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


class _JobStoppedError(Exception):
    """Raised inside a job at its next step once somebody has stopped it."""


@dataclass(eq=False)
class SiteJob:
    """One piece of long work.

    Parameters
    ----------
    id : str
        Part of an address, and nothing that anybody could guess.
    kind : str
        Such as ``"regrade"``: of each kind, one runs at a time.
    title : str
        What it does, for people.
    by : str
        Who started it.
    started : datetime
    facts : mapping of str to Any
        What it was started with, for the page that shows its result.
    why_held : callable
        Returns why it doesn't get on, while it has steps to do; nothing where it does.
    """

    id: str
    kind: str
    title: str
    by: str
    started: datetime
    facts: Mapping[str, Any]
    state: JobState = JobState.RUNNING
    done: int = 0
    total: int = 0
    result: Any = None
    fault: SoftmarkError | None = None
    finished: datetime | None = None
    why_held: Callable[[], str] = lambda: ""
    _is_stopping: bool = False
    _when_stopped: Callable[[], None] = lambda: None
    _thread: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        """Whether it is at work."""
        return self.state is JobState.RUNNING

    def expect(self, total: int) -> Callable[[], None]:
        """Say how many steps there are, and return what is called after each of them."""
        self.done, self.total = 0, total
        return self.step

    def watch(self, total: int) -> AbstractContextManager[Callable[[], None]]:
        """Say how many steps there are, as a block whose value is called after each of them."""
        return nullcontext(self.expect(total))

    def step(self) -> None:
        """Count a step; here a job that was stopped ends."""
        self.done += 1
        if self._is_stopping:
            raise _JobStoppedError

    def stop(self) -> None:
        """Let it end at its next step."""
        self._is_stopping = True
        self._when_stopped()

    def call_when_stopped(self, callback: Callable[[], None]) -> None:
        """Say what lets it end where it waits for something that may never come."""
        self._when_stopped = callback
        if self._is_stopping:  # somebody was faster
            callback()

    def wait(self, seconds: float) -> bool:
        """Wait for its end, at most so long; return whether it has ended."""
        if self._thread is not None:
            self._thread.join(seconds)
        return not self.is_running

    def as_json(self) -> dict[str, Any]:
        """Return what the site's script asks for while it runs."""
        return {"state": str(self.state), "done": self.done, "total": self.total, "held": self.hold_reason}

    @property
    def hold_reason(self) -> str:
        """Why it doesn't get on; empty where it does."""
        return self.why_held() if self.is_running and self.done < self.total else ""


@dataclass
class JobRunner:
    """The jobs of one server: those at work, and the last results of each kind."""

    _jobs: dict[str, SiteJob] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(
        self, kind: str, title: str, by: str, work: Callable[[SiteJob], Any], facts: Mapping[str, Any]
    ) -> SiteJob:
        """Start a job; the one that runs is returned where it was started with the same facts.

        Raises
        ------
        UsageError
            Another one of this kind runs.
        """
        with self._lock:
            running = next((job for job in self._jobs.values() if job.kind == kind and job.is_running), None)
            if running is not None and running.facts == facts:
                return running  # a second click
            if running is not None:
                raise UsageError(
                    f"this has to wait: “{running.title}” is still running",
                    got=f"started by {running.by}",
                    next_step="wait until it is done, or stop it on its own page, and start this again",
                )
            self._forget(kind)
            job = SiteJob(secrets.token_hex(8), kind, title, by, quiz_rules.now(), facts)
            self._jobs[job.id] = job
            # A daemon: the server's end doesn't wait for it.
            job._thread = threading.Thread(target=_run, args=(job, work), name=f"job-{kind}", daemon=True)
            job._thread.start()
            return job

    def find(self, job_id: str, kind: str | None = None) -> SiteJob | None:
        """Return the job of this id (and kind); None after a restart, or once it is forgotten."""
        job = self._jobs.get(job_id)
        return job if job is not None and kind in (None, job.kind) else None

    def newest(self, kind: str) -> list[SiteJob]:
        """Return the jobs of a kind, the last started first."""
        return [job for job in reversed(list(self._jobs.values())) if job.kind == kind]

    def all(self) -> list[SiteJob]:
        """Return all jobs that are known, the last started first."""
        return list(reversed(list(self._jobs.values())))

    def stop(self, patience_s: float = 5.0) -> None:
        """End all jobs, because the server ends; those that do a long step are waited for no longer."""
        running = [job for job in self.all() if job.is_running]
        for job in running:
            job.stop()
        end = time.monotonic() + patience_s
        for job in running:
            job.wait(max(0.0, end - time.monotonic()))

    def _forget(self, kind: str) -> None:
        finished = [job for job in self._jobs.values() if job.kind == kind and not job.is_running]
        for job in finished[: len(finished) - _MOST_FINISHED + 1]:
            del self._jobs[job.id]


def _run(job: SiteJob, work: Callable[[SiteJob], Any]) -> None:
    try:
        job.result = work(job)
    except (_JobStoppedError, GradingStoppedError):
        state = JobState.STOPPED
    except SoftmarkError as error:
        job.fault, state = error, JobState.FAILED
    except Exception as error:
        number = secrets.token_hex(4)
        note_fault(number, f"job {job.kind}", error)
        job.fault = SoftmarkError(
            "something went wrong on the server, and it isn't your fault",
            got=f"fault {number}, noted in the server's log",
            next_step="start it again; what it had stored is kept",
        )
        state = JobState.FAILED
    else:
        state = JobState.DONE
    job.finished = quiz_rules.now()
    job.state = state  # last: whoever sees the end sees the result too
