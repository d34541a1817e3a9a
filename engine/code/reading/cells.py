"""Exceptions of a notebook's code by cell and line, as its author sees them."""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType
from typing import Self

from engine.python_source import place_in_cells
from engine.runner import CallOutcome, ExceptionInfo, Job, Runner, RunResult

__all__ = ["CellLines"]


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
