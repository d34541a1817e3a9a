"""What happened while a submission was loaded: what is told of it, and whether it can be graded at all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from engine.code.case import Plan
from engine.code.reading.source import names_from
from engine.code.show import exception_text
from engine.model import CodeSubmission
from engine.runner import CallOutcome, CallStatus, ExceptionInfo, RunResult

__all__ = ["IMPORTABLE", "load_notes", "missing_package"]

IMPORTABLE = (
    "What can be imported is the standard library, numpy, torch, the packages that the course offers, and "
    ".py files handed in beside this one."
)
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_NO_NAME = re.compile(r"name '(\w+)' is not defined")


def load_notes(result: RunResult) -> tuple[str, ...]:
    """Return a sentence for each statement that failed while the file was loaded; they hold foreign text."""
    return tuple(
        f"While the file was loaded, a statement raised {exception_text(told)}. The others were run all the "
        "same, and what they define is graded."
        for told in result.failed
    )


def missing_package(
    submission: CodeSubmission, function: str, plan: Plan, result: RunResult
) -> ExceptionInfo | None:
    """Return the failed import that the function can't do without, None if there is no such import.

    That is so if the function isn't there after an import failed, or if a public call needed what the
    import should have brought. Hidden calls don't count: they would tell what their inputs are.
    """
    failed = [told for told in result.failed if _package(told)]
    if failed and function in result.missing:
        return failed[0]
    sources = (submission.source, *submission.modules.values())
    for told in _public(plan, result.outcomes):
        if _package(told):
            return told
        named = _NO_NAME.match(told.text) if told.type in {"NameError", "UnboundLocalError"} else None
        for cause in failed if named else ():
            bound = names_from({_package(cause)}, sources)
            if named is not None and (named.group(1) in bound or "*" in bound):
                return cause
    return None


def _package(told: ExceptionInfo) -> str:
    """Return the top-level package that wasn't found, an empty text if that isn't what happened."""
    found = _NO_MODULE.match(told.text) if told.type == "ModuleNotFoundError" else None
    return found.group(1).partition(".")[0] if found else ""


def _public(plan: Plan, outcomes: Iterable[CallOutcome]) -> Iterator[ExceptionInfo]:
    for case, outcome in zip(plan.cases, outcomes, strict=True):
        if case.public and outcome.status is CallStatus.RAISED and outcome.exception is not None:
            yield outcome.exception
