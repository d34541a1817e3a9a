"""Long work of the site: one of each kind, results that are kept, and ends of all sorts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from engine.errors import UsageError
from engine.parallel import on_all_cores
from engine.quiz.rules import now
from engine.runs.code_exercises import GradingStoppedError
from engine.web.jobs import JobRunner, JobState, SiteJob

_PATIENCE_S = 120.0


def _start(runner: JobRunner, kind: str, work: Callable[[SiteJob], object], **facts: object) -> SiteJob:
    return runner.start(kind, f"{kind} {facts}", "Ivy", work, facts)


def test_one_of_each_kind_at_a_time() -> None:
    runner, go_on = JobRunner(), threading.Event()
    first = _start(runner, "draw", lambda job: go_on.wait(_PATIENCE_S), name="a")
    assert _start(runner, "draw", lambda job: None, name="a") is first  # a second click
    with pytest.raises(UsageError, match="has to wait"):
        _start(runner, "draw", lambda job: None, name="b")
    other = _start(runner, "lint", lambda job: 7)
    assert other.wait(_PATIENCE_S) and other.result == 7
    go_on.set()
    assert first.wait(_PATIENCE_S) and first.state is JobState.DONE
    assert _start(runner, "draw", lambda job: None, name="b") is not first


def test_the_last_results_are_kept() -> None:
    runner = JobRunner()
    jobs = []
    for number in range(6):
        job = _start(runner, "report", lambda job, number=number: number, number=number)  # type: ignore[misc]
        assert job.wait(_PATIENCE_S)
        jobs.append(job)
    assert [job.result for job in runner.newest("report")] == [5, 4, 3]
    assert runner.find(jobs[0].id) is None
    assert runner.find(jobs[5].id, "report") is jobs[5] and runner.find(jobs[5].id, "draw") is None


def test_a_job_is_stopped_at_its_next_step() -> None:
    runner, go_on = JobRunner(), threading.Event()

    def work(job: SiteJob) -> None:
        step = job.expect(2)
        go_on.wait(_PATIENCE_S)
        step()

    job = _start(runner, "draw", work)
    job.stop()
    go_on.set()
    assert job.wait(_PATIENCE_S) and job.state is JobState.STOPPED
    assert job.as_json() == {"state": "stopped", "done": 1, "total": 2, "held": ""}


def test_a_job_that_waits_for_what_never_comes_is_stopped_and_says_what_it_waits_for() -> None:
    runner = JobRunner()

    def work(job: SiteJob) -> None:
        job.why_held = lambda: "no worker is running"
        halt = threading.Event()
        job.expect(2)
        job.call_when_stopped(halt.set)
        assert halt.wait(_PATIENCE_S)
        raise GradingStoppedError

    for stop in (lambda job: job.stop(), lambda job: runner.stop()):
        job = _start(runner, "regrade", work)
        while not job.hold_reason:
            time.sleep(0.01)
        assert job.as_json()["held"] == "no worker is running"
        stop(job)
        assert job.wait(_PATIENCE_S) and job.state is JobState.STOPPED and job.fault is None
        assert job.hold_reason == ""
    late = SiteJob("x", "regrade", "x", "Ivy", now(), {})
    late.stop()
    called = threading.Event()
    late.call_when_stopped(called.set)
    assert called.is_set()


def test_nothing_is_forked_in_a_job() -> None:
    job = _start(JobRunner(), "draw", lambda job: on_all_cores(abs, [1, 2, 3], least=1, core_count=2))
    assert job.wait(_PATIENCE_S) and job.result == {}
