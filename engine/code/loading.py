"""Between grader and sandbox: how calls reach a submission's function, and what loading its file came to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from engine.code.plan import InputPlan
from engine.code.show import exception_text
from engine.code.signatures import Passing
from engine.code.source import names_from, place_in_cells
from engine.model import CodeSubmission
from engine.runner import Call, CallOutcome, CallStatus, ExceptionInfo, Job, Runner, RunResult, WireArray

__all__ = ["IMPORTABLE", "ArgumentAdapter", "CellLines", "load_notes", "missing_package"]

IMPORTABLE = (
    "What can be imported is the standard library, numpy, torch, the packages that the course offers, and "
    ".py files handed in beside this one."
)
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_NO_NAME = re.compile(r"name '(\w+)' is not defined")


class _RunnerAround(Runner):
    """A runner before another one, which the caller closes."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    @property
    def tier(self) -> str:
        return self._runner.tier


class CellLines(_RunnerAround):
    """A runner that says ``code cell 3, line 2`` of a notebook's own lines."""

    def run(self, job: Job) -> RunResult:
        """Run one job whose source is that of a notebook."""
        result = self._runner.run(job)
        outcomes = tuple(_placed(outcome, job.source) for outcome in result.outcomes)
        failed = tuple(_in_cell(exception, job.source) for exception in result.failed)
        return replace(result, load=_placed(result.load, job.source), outcomes=outcomes, failed=failed)


class ArgumentAdapter(_RunnerAround):
    """A runner for a function that takes its optional arguments in another way than the exercise passes them.

    One that it takes by keyword only is passed so. An argument that has its default isn't passed to a
    function that doesn't take it, so that everything which doesn't need the argument is judged; where another
    value is asked for, Python's own TypeError says what is missing. To a function that has no default for an
    argument, the default is passed, except in the calls on views and read-only arrays: so the oversight costs
    that one check.

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
        super().__init__(runner)
        self._passing, self._defaults, self._size = passing, defaults, size

    def run(self, job: Job) -> RunResult:
        """Run one job with the arguments that the function takes, and those that it requires."""
        result = self._runner.run(replace(job, calls=tuple(self._fitted(call) for call in job.calls)))
        pairs = zip(job.calls, result.outcomes, strict=False)
        return replace(result, outcomes=tuple(_as_sent(call, outcome) for call, outcome in pairs))

    def _fitted(self, call: Call) -> Call:
        args, by_keyword = list(call.args), dict(call.kwargs)
        # there Python's own TypeError is what the check of layouts shall report
        views = any(isinstance(arg, WireArray) and not (arg.contiguous and arg.writeable) for arg in args)
        while len(args) < (self._passing.requires or 0) and not views:
            args.append(self._defaults[len(args) - self._size])
        while self._passing.takes is not None and len(args) > self._passing.takes:
            default = self._defaults[len(args) - 1 - self._size]
            if type(args[-1]) is not type(default) or args[-1] != default:
                break
            args.pop()
        while (name := self._passing.keywords.get(len(args) - 1)) is not None:
            by_keyword = {name: args.pop(), **by_keyword}  # in their order, as their values come back
        if len(args) == len(call.args) and not by_keyword:
            return call
        return replace(call, args=tuple(args), kwargs=by_keyword)


def _as_sent(call: Call, outcome: CallOutcome) -> CallOutcome:
    # what is judged afterwards are the arguments of the plan, whatever the function took of them
    if outcome.arguments is None or len(outcome.arguments) == len(call.args):
        return outcome
    returned = outcome.arguments[: len(call.args)]
    return replace(outcome, arguments=returned + call.args[len(returned) :])


def _placed(outcome: CallOutcome, source: str) -> CallOutcome:
    if outcome.exception is None:
        return outcome
    return replace(outcome, exception=_in_cell(outcome.exception, source))


def _in_cell(exception: ExceptionInfo, source: str) -> ExceptionInfo:
    if exception.file is not None or exception.line is None:
        return exception
    place = place_in_cells(source, exception.line)
    return exception if place is None else replace(exception, file=f"code cell {place[0]}", line=place[1])


def load_notes(result: RunResult) -> tuple[str, ...]:
    """Return a sentence for each statement that failed while the file was loaded; they hold foreign text."""
    return tuple(
        f"While the file was loaded, a statement raised {exception_text(exception)}. "
        "The others were run all the same, and what they define is graded."
        for exception in result.failed
    )


def missing_package(
    submission: CodeSubmission, function: str, plan: InputPlan, result: RunResult
) -> ExceptionInfo | None:
    """Return the failed import that the function can't do without, None if there is no such import.

    That is so if the function isn't there after an import failed, or if a public call needed what the
    import should have brought. Hidden calls don't count: they would tell what their inputs are.
    """
    failed = [exception for exception in result.failed if _package(exception)]
    if failed and function in result.missing:
        return failed[0]
    sources = (submission.source, *submission.modules.values())
    # only what public calls raised: a text raised in a hidden call could carry its input
    for exception in _public(plan, result.outcomes):
        if _package(exception):
            return exception
        if exception.type not in {"NameError", "UnboundLocalError"}:
            continue
        if match := _NO_NAME.match(exception.text):  # a name that the failed import should have bound
            for cause in failed:
                if {match.group(1), "*"} & names_from({_package(cause)}, sources):
                    return cause
    return None


def _package(exception: ExceptionInfo) -> str:
    match = _NO_MODULE.match(exception.text) if exception.type == "ModuleNotFoundError" else None
    return match.group(1).partition(".")[0] if match else ""


def _public(plan: InputPlan, outcomes: Iterable[CallOutcome]) -> Iterator[ExceptionInfo]:
    for case, outcome in zip(plan.cases, outcomes, strict=True):
        if case.public and outcome.status is CallStatus.RAISED and outcome.exception is not None:
            yield outcome.exception
