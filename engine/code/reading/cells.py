"""Runners before the sandbox: a notebook's lines as its author sees them, and calls with fewer arguments."""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from engine.python_source import place_in_cells
from engine.runner import Call, CallOutcome, ExceptionInfo, Job, Runner, RunResult

__all__ = ["CellLines", "FewerArguments"]


class CellLines:
    """A runner that says ``code cell 3, line 2`` of the submission's own lines; the caller closes it."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    @property
    def tier(self) -> str:
        """Tier of the runner behind it."""
        return self._runner.tier

    def run(self, job: Job) -> RunResult:
        """Run one job whose source is that of a notebook."""
        result = self._runner.run(job)
        outcomes = tuple(_placed(outcome, job.source) for outcome in result.outcomes)
        failed = tuple(_place(told, job.source) for told in result.failed)
        return replace(result, load=_placed(result.load, job.source), outcomes=outcomes, failed=failed)

    def close(self) -> None:
        """Close the runner behind it."""
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class FewerArguments:
    """A runner for a function that leaves out arguments with a default; the caller closes it.

    An argument that has its default isn't passed to such a function, so that everything which doesn't need
    the argument is judged; where another value is asked for, Python's own TypeError says what is missing.

    Parameters
    ----------
    runner : Runner
    takes : int
        How many arguments the function takes.
    defaults : tuple
        Defaults of the last arguments of the exercise's function.
    size : int
        How many arguments that has.
    """

    def __init__(self, runner: Runner, takes: int, defaults: tuple[Any, ...], size: int) -> None:
        self._runner, self._takes, self._defaults, self._size = runner, takes, defaults, size

    @property
    def tier(self) -> str:
        """Tier of the runner behind it."""
        return self._runner.tier

    def run(self, job: Job) -> RunResult:
        """Run one job without the arguments that have their default."""
        return self._runner.run(replace(job, calls=tuple(self._shortened(call) for call in job.calls)))

    def _shortened(self, call: Call) -> Call:
        args = call.args
        while len(args) > self._takes:
            default = self._defaults[len(args) - 1 - self._size]
            last = args[-1]
            if type(last) is not type(default) or last != default:
                break
            args = args[:-1]
        return call if len(args) == len(call.args) else replace(call, args=args)

    def close(self) -> None:
        """Close the runner behind it."""
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _placed(outcome: CallOutcome, source: str) -> CallOutcome:
    if outcome.exception is None:
        return outcome
    return replace(outcome, exception=_place(outcome.exception, source))


def _place(told: ExceptionInfo, source: str) -> ExceptionInfo:
    place = None if told.file is not None or told.line is None else place_in_cells(source, told.line)
    if place is None:
        return told
    cell, line = place
    return replace(told, file=f"code cell {cell}", line=line)
