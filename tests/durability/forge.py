"""Forks graders that have everything loaded already, and kills them when asked: a script of the kill tests.

It reads one JSON object a line, ``{"runs": [{"do": …, "log": …, …}]}``, starts all
runs at the same time, and answers with how each ended. Student code runs in the sandbox of the test's own
process, which outlives the graders, so that a hundred of them don't start a hundred sandboxes.
"""

from __future__ import annotations

import copyreg
import functools
import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from multiprocessing.connection import Client, Connection
from types import MappingProxyType, TracebackType
from typing import Any, Self

import engine.commands.batch
import engine.intake
import engine.pages
import engine.runs
import engine.runs.grade_file
import engine.sandbox
import engine.store.store
from engine.commands import run
from engine.errors import RunnerLostError
from engine.runner import Job, RunResult
from engine.store import HandMark, open_store

copyreg.pickle(MappingProxyType, lambda view: (dict, (dict(view),)))  # type: ignore[arg-type]


class FarRunner:
    """The sandbox of another process."""

    tier = "T1"

    def __init__(self, address: str) -> None:
        self._address = address
        self._own = threading.local()

    def run(self, job: Job) -> RunResult:
        connection: Connection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = Client(self._address)
        connection.send(job)
        answer = connection.recv()
        if isinstance(answer, str):
            raise RunnerLostError(answer)
        assert isinstance(answer, RunResult)
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


def decide(store: str, student: str, column: str, score: float) -> int:
    """Set a mark by hand."""
    with open_store(store) as opened:
        opened.hand_marks.add(HandMark(student, column, score, False, "", "prof", datetime.now(UTC)))
    return 0


def regrade(store: str, version: str) -> int:
    """Give every settled attempt a report of another item version, in one transaction."""
    from dataclasses import replace

    with open_store(store) as opened:
        old = [attempt for attempt in opened.attempts() if attempt.settled]
        changes = [(a, replace(a, report=replace(a.report, item_version=version))) for a in old]
        opened.regrades.replace(changes, run=version, by="prof", at=datetime.now(UTC), cause="test")
    return 0


WORK: dict[str, Callable[..., int]] = {
    "grade": lambda *words: run(list(words)),
    "decide": decide,
    "regrade": regrade,
}


def start(wanted: dict[str, Any]) -> int:
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        log = os.open(wanted["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.environ.update(wanted["env"])
        open_database = functools.partial(
            engine.store.database.open_database, busy_timeout_s=wanted["busy_timeout_s"]
        )
        engine.store.store.open_database = lambda target, **_: open_database(target)
        if (most := wanted["file_bytes"]) is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        name, *arguments = wanted["do"]
        code = WORK[name](*arguments)
        sys.stdout.flush()
    finally:
        os._exit(code)


def end(child: int, started: float, kill_after_s: float | None) -> dict[str, int]:
    if kill_after_s is not None:
        time.sleep(max(0.0, started + kill_after_s - time.monotonic()))
        os.kill(child, signal.SIGKILL)  # it isn't waited for yet, so the number is still its own
    _, status = os.waitpid(child, 0)
    return {"signal": os.WTERMSIG(status), "code": os.WEXITSTATUS(status)}


def main(address: str, *warm_up: str) -> None:
    engine.sandbox.open_runner = lambda *_, **__: FarRunner(address)  # type: ignore[assignment]
    # An exercise is loaded once for all graders of one course, in the run that warms up.
    prepare = functools.cache(engine.runs.grade_file.CodeExercises._prepare)
    first: list[Any] = []

    def prepared(self: Any, item: str) -> Any:
        first.append(self)
        return prepare(first[0], item)

    engine.runs.grade_file.CodeExercises._prepare = prepared  # type: ignore[method-assign]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    code = run(list(warm_up))
    print(json.dumps([{"signal": 0, "code": code}]), file=answers, flush=True)
    for line in sys.stdin:
        runs = json.loads(line)["runs"]
        children = [(start(wanted), time.monotonic(), wanted["kill_after_s"]) for wanted in runs]
        print(json.dumps([end(*child) for child in children]), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
