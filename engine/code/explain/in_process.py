"""A runner for code that we trust: our own solutions and mutants, in this process, without limits.

It loads and calls them exactly as the sandbox's child does (:mod:`engine.sandbox.child.calls`): whether a
submission equals a known mistake depends on both being treated alike. Only imports and limits differ: no
module of theirs stays behind in this process, and there is no clock.

Never hand student code to it. The layers of :mod:`engine.sandbox` are not there.
"""

from __future__ import annotations

import builtins
import sys
import warnings
from collections.abc import Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from engine.runner import (
    Call,
    CallOutcome,
    CallStatus,
    ExceptionInfo,
    Job,
    Limits,
    Runner,
    RunResult,
    StepFunction,
    WireArray,
    WireValue,
)
from engine.sandbox.child.arrays import describe, make_array
from engine.sandbox.child.calls import copy_row, load_into, make_step, run_call
from engine.sandbox.child.modules import Tolerate, run_statements
from engine.sandbox.child.wire import MAX_REPLY_NODES, ArrayNode, StepNode

_LIBRARIES = sys.stdlib_module_names | {"numpy", "torch"}
_MOST_BYTES = Limits().output_bytes  # as in the sandbox: a larger result isn't a result there either
_NOT_RUN = CallOutcome(CallStatus.NOT_RUN, detail="the file didn't load")
Report = Mapping[str, Any]


class SourceImporter:
    """An ``__import__`` that knows some sources; a library of the same name wins.

    The sandbox's child lets :mod:`sys` find a submission's files. In this process they would stay there for
    every program that is loaded later.

    Parameters
    ----------
    main : module
        The submission's own, empty yet; its imports go this way from now on.
    source : str
        Its own source: a module of the same source is the submission itself.
    modules : mapping of str to str
        Module name to source.
    tolerate : callable
        Takes what a statement of theirs raises; the rest of that file is run all the same.
    """

    def __init__(self, main: ModuleType, source: str, modules: Mapping[str, str], tolerate: Tolerate) -> None:
        self._tolerate = tolerate
        self._sources = {name: text for name, text in modules.items() if name not in _LIBRARIES}
        self._loaded = {name: main for name, text in self._sources.items() if text == source}
        self._builtins = {**vars(builtins), "__import__": self._import}
        main.__dict__["__builtins__"] = self._builtins

    def _import(
        self,
        name: str,
        scope: Mapping[str, Any] | None = None,
        inner: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if level == 1 and not name:
            return SimpleNamespace(**{module: self._module(module) for module in fromlist or ()})
        if level == 1 or (not level and name in self._sources):
            return self._module(name)
        return builtins.__import__(name, scope, inner, fromlist or (), level)

    def _module(self, name: str) -> Any:
        if name not in self._sources:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if name not in self._loaded:
            module = self._loaded[name] = ModuleType(name)
            module.__file__ = f"{name}.py"
            module.__dict__["__builtins__"] = self._builtins
            try:
                run_statements(self._sources[name], f"{name}.py", module.__dict__, self._tolerate)
            except BaseException:
                del self._loaded[name]  # the next import tries again, as Python's own does
                raise
        return self._loaded[name]


class TrustedProgram:
    """A program of ours, loaded in this process with ``exec``; to be called one call after the other.

    Parameters
    ----------
    job : Job
        Its calls don't matter.

    Attributes
    ----------
    load : CallOutcome
        Of loading it.
    failed : tuple of ExceptionInfo
        What the first statements raised that failed while it was loaded, as the sandbox reports them.
    """

    def __init__(self, job: Job) -> None:
        module = ModuleType("submission")
        module.__file__ = job.filename
        files = {f"{name}.py": name for name in job.modules} | {job.filename: ""}

        def offer(tolerate: Tolerate) -> None:
            if job.modules:
                SourceImporter(module, job.source, job.modules, tolerate)

        # What numpy warns of in a known-wrong program is no news to whoever runs the grader. The filter is
        # the whole process's, so it names the module; errstate belongs to this thread.
        warnings.filterwarnings("ignore", module=r"submission\Z")
        with np.errstate(all="ignore"):
            self._loaded = load_into(module, job.source, files, job.functions, None, offer)
        report = self._loaded.report
        self.load = _outcome(report)
        self.failed = tuple(map(_exception, report["failed"]))
        self.missing: tuple[str, ...] = tuple(report["missing"])

    def call(self, call: Call) -> CallOutcome:
        """Make one call; an exception becomes an outcome."""
        with np.errstate(all="ignore"):
            report, _, _ = run_call(self._loaded, _SingleCall(call), 0, _MOST_BYTES, MAX_REPLY_NODES)
        return _outcome(report)


class TrustedRunner(Runner):
    """Runs jobs in this process with ``exec``; implements :class:`engine.runner.Runner`."""

    tier = "trusted"

    def run(self, job: Job) -> RunResult:
        """Run every call of a job in a fresh namespace; exceptions become outcomes."""
        program = TrustedProgram(job)
        if program.load.status is not CallStatus.RETURNED:
            return RunResult(program.load, (_NOT_RUN,) * len(job.calls), tier=self.tier)
        outcomes = tuple(map(program.call, job.calls))
        return RunResult(program.load, outcomes, program.missing, tier=self.tier, failed=program.failed)


class _SingleCall:
    """One call as the child's :class:`~engine.sandbox.child.calls.PlannedCalls`, without a clock."""

    call_s: float | None = None

    def __init__(self, call: Call) -> None:
        self._call = call
        self.calls: Sequence[Mapping[str, Any]] = [
            {"f": call.function, "r": call.return_arguments, "o": call.overwrite_result}
        ]

    def arguments(self, index: int) -> tuple[list[Any], dict[str, Any], list[Any] | None]:
        call = self._call
        cotangents = None if call.cotangents is None else _arriving(list(call.cotangents))
        return _arriving(list(call.args)), _arriving(dict(call.kwargs)), cotangents

    def is_placed(self, index: int, place: int) -> bool:
        return False

    def writer(self, max_bytes: int, max_nodes: int) -> _ValueWriter:
        return _ValueWriter(max_bytes)


class _ValueWriter:
    """Takes values down as the grader reads them: nothing here crosses to another process."""

    nodes = 0

    def __init__(self, max_bytes: int) -> None:
        self.blobs: list[bytes] = []
        self._max_bytes = max_bytes

    def node(self, value: Any) -> WireValue:
        kind = type(value)
        if value is None or kind in (bool, int, float, str):
            return value
        if kind is list or kind is tuple:
            return kind(map(self.node, value))
        if kind is dict:
            return {str(key): self.node(entry) for key, entry in value.items()}
        array = describe(value, self._max_bytes)
        return WireArray(array.library, array.dtype, array.shape, bytes(array.data))


def _arriving(value: WireValue) -> Any:
    if isinstance(value, WireArray):
        fields = (value.library, value.dtype, value.shape, value.data, value.contiguous, value.writeable)
        return make_array(ArrayNode(*fields))
    if isinstance(value, list | tuple):
        return type(value)(_arriving(item) for item in value)
    if isinstance(value, dict):
        return {key: _arriving(item) for key, item in value.items()}
    if isinstance(value, StepFunction):
        return make_step(StepNode(value.name, _arriving(value.tokens), _arriving(value.chances)), copy_row)
    return value


def _outcome(report: Report) -> CallOutcome:
    arguments, gradients = report.get("arguments"), report.get("gradients")
    return CallOutcome(
        CallStatus(report["status"]),
        report.get("value"),
        _exception(report["exception"]) if "exception" in report else None,
        None if arguments is None else tuple(arguments),
        report["seconds"],
        report.get("code", ""),
        None if gradients is None else tuple(gradients),
        report.get("shared", False),
        report.get("kept", False),
    )


def _exception(report: Mapping[str, Any]) -> ExceptionInfo:
    file = report["file"]
    return ExceptionInfo(report["type"], report["text"], report["line"], f"{file}.py" if file else None)
