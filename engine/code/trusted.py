"""A runner for code that we trust: our own solutions and mutants, in this process, without limits.

Never hand student code to it. The layers of :mod:`engine.sandbox` are not there.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

import numpy as np

from engine.code.leaves import FLOATING, array_of, leaf_of
from engine.runner import (
    Call,
    CallOutcome,
    CallStatus,
    ExceptionInfo,
    Job,
    Leaf,
    RunResult,
    TableFunction,
    WireValue,
)

__all__ = ["TrustedRunner"]


class TrustedRunner:
    """Runs jobs in this process with ``exec``; implements :class:`engine.runner.Runner`."""

    tier = "trusted"

    def run(self, job: Job) -> RunResult:
        """Run every call of a job in a fresh namespace; exceptions become outcomes."""
        namespace: dict[str, Any] = {"__name__": "submission", "__file__": job.filename}
        # errstate belongs to this thread; stdout and warning filters are the process's own, so they stay
        with np.errstate(all="ignore"):
            load = _load(job, namespace)
            if load.status is not CallStatus.RETURNED:
                not_run = CallOutcome(CallStatus.NOT_RUN, detail="the file didn't load")
                return RunResult(load, (not_run,) * len(job.calls), tier=self.tier)
            outcomes = tuple(_call(call, namespace) for call in job.calls)
        missing = tuple(name for name in job.functions if not callable(namespace.get(name)))
        return RunResult(load, outcomes, missing, tier=self.tier)

    def close(self) -> None:
        """Do nothing: there is no process."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _load(job: Job, namespace: dict[str, Any]) -> CallOutcome:
    started = time.perf_counter()
    try:
        exec(compile(job.source, job.filename, "exec"), namespace)
    except Exception as error:
        return CallOutcome(CallStatus.RAISED, exception=_told(error, job.filename))
    return CallOutcome(CallStatus.RETURNED, seconds=time.perf_counter() - started)


def _call(call: Call, namespace: dict[str, Any]) -> CallOutcome:
    function = namespace.get(call.function)
    if not callable(function):
        return CallOutcome(CallStatus.NOT_RUN, detail=f"no function {call.function}")
    args = [_arriving(value) for value in call.args]
    kwargs = {name: _arriving(value) for name, value in call.kwargs.items()}
    started = time.perf_counter()
    try:
        value = function(*args, **kwargs)
    except Exception as error:
        outcome = CallOutcome(CallStatus.RAISED, exception=_told(error, str(namespace["__file__"])))
    else:
        try:
            outcome = CallOutcome(CallStatus.RETURNED, _leaving(value), seconds=time.perf_counter() - started)
        except TypeError as error:
            return CallOutcome(CallStatus.UNSUPPORTED, detail=f"a value of type {error}")
    if not call.return_arguments:
        return outcome
    after = tuple(_leaving(value) for value in args)
    return CallOutcome(outcome.status, outcome.value, outcome.exception, after, outcome.seconds)


def _told(error: Exception, filename: str) -> ExceptionInfo:
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    return ExceptionInfo(type(error).__name__, str(error)[:2000], line)


def _arriving(value: WireValue) -> Any:
    if isinstance(value, Leaf):
        array = array_of(value).copy()  # a fresh, writeable array for every call
        if value.library == "numpy":
            array.flags.writeable = value.writeable
            return array
        import torch

        return torch.from_numpy(array)
    if isinstance(value, list | tuple):
        return type(value)(_arriving(item) for item in value)
    if isinstance(value, TableFunction):
        return _looked_up(value)
    return value


def _looked_up(table: TableFunction) -> Any:
    def look_up(*arguments: Any) -> Any:
        asked = _leaving(arguments)
        for key, result in table.rows:
            if key == asked:
                return _arriving(result)
        raise KeyError(f"{table.name} has no value for these arguments")

    return look_up


def _leaving(value: Any) -> WireValue:
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufc":
            raise TypeError(f"numpy array of {value.dtype}")
        plain = np.asarray(value)  # a masked array or another subclass leaves as what it holds
        return leaf_of(np.ascontiguousarray(plain).reshape(value.shape), "numpy")
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return type(value)(_leaving(item) for item in value)
    if isinstance(value, dict):
        return {str(key): _leaving(item) for key, item in value.items()}
    return _tensor_leaving(value)


def _tensor_leaving(value: Any) -> Leaf:
    import torch

    if not isinstance(value, torch.Tensor):
        raise TypeError(type(value).__name__)
    plain = value.detach().cpu().contiguous()
    dtype = str(plain.dtype).removeprefix("torch.")
    if dtype == "bfloat16" and dtype in FLOATING:
        return Leaf("torch", dtype, tuple(plain.shape), plain.view(torch.int16).numpy().tobytes())
    leaf = leaf_of(plain.numpy(), "torch")
    return Leaf("torch", dtype, leaf.shape, leaf.data)
