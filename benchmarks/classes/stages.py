"""Where the time goes: wall time by stage, by wrapping functions of the engine from outside.

Time belongs to the innermost stage that is running in a thread.  A stage that runs inside the
explanation is counted separately from the same stage outside it.
"""

from __future__ import annotations

import functools
import importlib
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from engine.runner import Job, Runner, RunResult

__all__ = ["STAGES", "Stages", "TimedRunner"]

# stage → where the function lies that is the whole of it
STAGES = {
    "rest of a file (outside grade_code)": "engine.runs.grade_file:FileGrader.grade",
    "read the file": "engine.intake:read_code_file",
    "rest of grade_code": "engine.grading:grade_code",
    "parse": "engine.code.grade:examine_source",
    "fork": "engine.sandbox.zygote_runner:ChildLink",
    "decode": "engine.code.grade:observe",
    "judge": "engine.code.grade:judge_all",
    "explain": "engine.code.grade:_explained",
    "explain: which mutant": "engine.code.grade:name_mutants",
    "explain: counterexample": "engine.code.grade:find_counterexample",
    "store": "engine.store:Store.record",
}
TALK = "talk to the child and end it"


class Stages:
    """Seconds by stage, over all threads."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.missing: list[str] = []
        self._running = threading.local()
        self._lock = threading.Lock()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Give the time inside to `name`, except what inner stages take."""
        stack: list[list[Any]] = self._running.__dict__.setdefault("stack", [])
        if any(outer[0].startswith("explain") for outer in stack) and not name.startswith("explain"):
            name = f"explain: {name}"
        now = time.perf_counter()
        if stack:
            self._add(stack[-1][0], now - stack[-1][1])
        stack.append([name, now])
        try:
            yield
        finally:
            now = time.perf_counter()
            self._add(name, now - stack.pop()[1])
            if stack:
                stack[-1][1] = now

    def move(self, to: str, seconds: float, source: str) -> None:
        """Give seconds that a child counted to another stage than the one that waited for it."""
        explaining = any(outer[0].startswith("explain") for outer in self._running.__dict__.get("stack", ()))
        prefix = "explain: " if explaining else ""
        self._add(prefix + to, seconds)
        self._add(prefix + source, -seconds)

    def _add(self, name: str, seconds: float) -> None:
        with self._lock:
            self.seconds[name] += seconds

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Wrap the engine's functions while the block runs; what isn't there is listed in `missing`."""
        undo: list[tuple[Any, str, Any]] = []
        try:
            for name, place in STAGES.items():
                owner, attribute = _find(place)
                if owner is None:
                    self.missing.append(name)
                    continue
                undo.append((owner, attribute, getattr(owner, attribute)))
                setattr(owner, attribute, self._wrapped(name, getattr(owner, attribute)))
            yield
        finally:
            for owner, attribute, function in reversed(undo):
                setattr(owner, attribute, function)

    def _wrapped(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function, updated=())
        def timed(*args: Any, **named: Any) -> Any:
            with self.stage(name):
                return function(*args, **named)

        return timed


def _find(place: str) -> tuple[Any, str]:
    module, path = place.split(":")
    *owners, attribute = path.split(".")
    try:
        owner = functools.reduce(getattr, owners, importlib.import_module(module))
    except (ImportError, AttributeError):
        return None, attribute
    return (owner, attribute) if hasattr(owner, attribute) else (None, attribute)


class TimedRunner:
    """A runner whose runs are a stage; what the child took for loading and calls is counted separately."""

    def __init__(self, runner: Runner, stages: Stages) -> None:
        self._runner, self._stages = runner, stages

    @property
    def tier(self) -> str:
        return self._runner.tier

    def run(self, job: Job) -> RunResult:
        with self._stages.stage(TALK):
            result = self._runner.run(job)
        self._stages.move("load the file", result.load.seconds, TALK)
        self._stages.move("calls", result.calls_s, TALK)
        return result

    def close(self) -> None:
        self._runner.close()

    def __enter__(self) -> TimedRunner:
        return self

    def __exit__(self, *cause: object) -> None:
        self._runner.close()
