"""Runners before the sandbox: a notebook's lines as its author sees them, calls as a function takes them."""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from engine.code.reading.signatures import Passing
from engine.python_source import place_in_cells
from engine.runner import Call, CallOutcome, ExceptionInfo, Job, Leaf, Runner, RunResult

__all__ = ["CellLines", "OwnArguments"]


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


class OwnArguments:
    """A runner for a function that takes its optional arguments in another way than the exercise passes them.

    One that it takes by keyword only is passed so. An argument that has its default isn't passed to a
    function that doesn't take it, so that everything which doesn't need the argument is judged; where another
    value is asked for, Python's own TypeError says what is missing. To a function that has no default for an
    argument, the default is passed, except in the calls on views and read-only arrays: so the oversight costs
    that one check. The caller closes the runner.

    Parameters
    ----------
    runner : Runner
    passing : Passing
    defaults : tuple
        Defaults of the last arguments of the exercise's function.
    size : int
        How many arguments that has.
    """

    def __init__(self, runner: Runner, passing: Passing, defaults: tuple[Any, ...], size: int) -> None:
        self._runner, self._passing = runner, passing
        self._defaults, self._size = defaults, size

    @property
    def tier(self) -> str:
        """Tier of the runner behind it."""
        return self._runner.tier

    def run(self, job: Job) -> RunResult:
        """Run one job with the arguments that the function takes, and those that it requires."""
        result = self._runner.run(replace(job, calls=tuple(self._fitted(call) for call in job.calls)))
        pairs = zip(job.calls, result.outcomes, strict=False)
        return replace(result, outcomes=tuple(_as_sent(call, outcome) for call, outcome in pairs))

    def _fitted(self, call: Call) -> Call:
        args, named = list(call.args), dict(call.kwargs)
        views = any(isinstance(arg, Leaf) and not (arg.contiguous and arg.writeable) for arg in args)
        while len(args) < (self._passing.requires or 0) and not views:
            args.append(self._defaults[len(args) - self._size])
        while self._passing.takes is not None and len(args) > self._passing.takes:
            default = self._defaults[len(args) - 1 - self._size]
            if type(args[-1]) is not type(default) or args[-1] != default:
                break
            args.pop()
        while (name := self._passing.keywords.get(len(args) - 1)) is not None:
            named = {name: args.pop(), **named}  # in their order, as their values come back
        if len(args) == len(call.args) and not named:
            return call
        return replace(call, args=tuple(args), kwargs=named)

    def close(self) -> None:
        """Close the runner behind it."""
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _as_sent(call: Call, outcome: CallOutcome) -> CallOutcome:
    """Return an outcome with as many arguments as the call had before it was fitted."""
    if outcome.arguments is None or len(outcome.arguments) == len(call.args):
        return outcome
    came = outcome.arguments[: len(call.args)]
    return replace(outcome, arguments=came + call.args[len(came) :])


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
