"""A runner for code that we trust: our own solutions and mutants, in this process, without limits.

Never hand student code to it. The layers of :mod:`engine.sandbox` are not there.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import ModuleType, SimpleNamespace, TracebackType
from typing import Any, Self

import numpy as np

from engine.code.arguments import FLOATING, array_of, leaf_of
from engine.code.step_table import walker
from engine.runner import (
    Call,
    CallOutcome,
    CallStatus,
    ExceptionInfo,
    Job,
    RunResult,
    StepFunction,
    WireArray,
    WireValue,
)

__all__ = ["SourceImporter", "TrustedProgram", "TrustedRunner", "run_statements"]


# ----------------------------------------------------------------------------------------------------
# Imports of the files beside a trusted source, without a trace in this process's modules.

_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_LIBRARIES = sys.stdlib_module_names | {"numpy", "torch"}


def run_statements(source: str, filename: str, namespace: dict[str, Any], raised: list[Exception]) -> None:
    """Run a file of ours as the sandbox runs a student's: what a statement raises doesn't stop the rest.

    Parameters
    ----------
    source, filename : str
    namespace : dict
        The module's.
    raised : list of Exception
        What its statements raise is added here.

    Raises
    ------
    SyntaxError
        The source isn't Python: nothing of it is run.
    """
    flags = compile(source, filename, "exec", dont_inherit=True).co_flags & _FUTURE
    tree = compile(source, filename, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    for place, statement in enumerate(tree.body):
        if place and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # it does nothing, and would pass for a docstring
        try:
            exec(compile(ast.Module([statement], []), filename, "exec", flags, dont_inherit=True), namespace)
        except Exception as error:
            raised.append(error)


class SourceImporter:
    """An ``__import__`` that knows some sources; a library of the same name wins.

    Parameters
    ----------
    main : module
        The submission's own, empty yet; its imports go this way from now on.
    source : str
        Its own source: a module of the same source is the submission itself.
    modules : mapping of str to str
        Module name to source.
    raised : list of Exception
        What a statement of theirs raises is noted here, and the rest of that file is run all the same.
    """

    def __init__(
        self, main: ModuleType, source: str, modules: Mapping[str, str], raised: list[Exception]
    ) -> None:
        self._raised = raised
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
            return SimpleNamespace(**{wanted: self._module(wanted) for wanted in fromlist or ()})
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
                run_statements(self._sources[name], f"{name}.py", module.__dict__, self._raised)
            except BaseException:
                del self._loaded[name]
                raise
        return self._loaded[name]


_MOST_FAILED = 3  # as in the sandbox


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
        What the first statements raised that failed while it was loaded, as the sandbox tells of them.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        module = ModuleType("submission")
        module.__file__ = job.filename
        raised: list[Exception] = []
        if job.modules:
            SourceImporter(module, job.source, job.modules, raised)
        self._namespace = module.__dict__
        self._given: list[Any] = []  # arrays and lists of earlier results: alive, so no memory comes twice
        # errstate belongs to this thread; stdout and warning filters are the process's own, so they stay
        with np.errstate(all="ignore"):
            self.load = _load(job, self._namespace, raised)
        self.failed = tuple(_told(error, job) for error in raised[:_MOST_FAILED])

    def call(self, call: Call) -> CallOutcome:
        """Make one call; an exception becomes an outcome."""
        with np.errstate(all="ignore"):
            return _call(call, self._namespace, self._job, self._given)

    def has(self, name: str) -> bool:
        """Return whether the program defines a function of this name."""
        return callable(self._namespace.get(name))


class TrustedRunner:
    """Runs jobs in this process with ``exec``; implements :class:`engine.runner.Runner`."""

    tier = "trusted"

    def run(self, job: Job) -> RunResult:
        """Run every call of a job in a fresh namespace; exceptions become outcomes."""
        program = TrustedProgram(job)
        if program.load.status is not CallStatus.RETURNED:
            not_run = CallOutcome(CallStatus.NOT_RUN, detail="the file didn't load")
            return RunResult(program.load, (not_run,) * len(job.calls), tier=self.tier)
        outcomes = tuple(program.call(call) for call in job.calls)
        missing = tuple(name for name in job.functions if not program.has(name))
        return RunResult(program.load, outcomes, missing, tier=self.tier, failed=program.failed)

    def close(self) -> None:
        """Do nothing: there is no process."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _load(job: Job, namespace: dict[str, Any], raised: list[Exception]) -> CallOutcome:
    started = time.perf_counter()
    try:
        run_statements(job.source, job.filename, namespace, raised)
    except Exception as error:
        return CallOutcome(CallStatus.RAISED, exception=_told(error, job))
    return CallOutcome(CallStatus.RETURNED, seconds=time.perf_counter() - started)


def _call(call: Call, namespace: dict[str, Any], job: Job, given: list[Any]) -> CallOutcome:
    function = namespace.get(call.function)
    if not callable(function):
        return CallOutcome(CallStatus.NOT_RUN, detail=f"no function {call.function}")
    args = [_arriving(value) for value in call.args]
    kwargs = {name: _arriving(value) for name, value in call.kwargs.items()}
    sent = [*args, *kwargs.values()]
    inputs = [] if call.cotangents is None else _tracked(sent)
    started = time.perf_counter()
    try:
        value = function(*args, **kwargs)
    except Exception as error:
        outcome = CallOutcome(CallStatus.RAISED, exception=_told(error, job))
    else:
        try:
            outcome = CallOutcome(CallStatus.RETURNED, _leaving(value), seconds=time.perf_counter() - started)
        except TypeError as error:
            return CallOutcome(CallStatus.UNSUPPORTED, detail=f"a value of type {error}")
        if call.cotangents is not None:
            cotangents = [_arriving(cotangent) for cotangent in call.cotangents]
            outcome = replace(outcome, gradients=_gradients(value, cotangents, inputs))
    if not call.return_arguments or outcome.status is not CallStatus.RETURNED:
        return outcome
    tracked = {id(tensor) for tensor in inputs}
    after = tuple(
        None if callable(v) or (getattr(v, "requires_grad", False) and id(v) not in tracked) else _leaving(v)
        for v in sent
    )
    if not call.overwrite_result or call.cotangents is not None:
        return replace(outcome, arguments=after)
    results = list(_arrays(value))
    shared = any(_one_memory(result, argument) for result in results for argument in _arrays(sent))
    results += [value] if isinstance(value, list) else []
    kept = any(_one_memory(result, earlier) for result in results for earlier in given)
    given += results
    return replace(outcome, arguments=after, shared=shared, kept=kept)


def _one_memory(first: Any, second: Any) -> bool:
    """Return whether writing into one changes the other; of tensors whether they are parts of one storage."""
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return bool(np.may_share_memory(first, second))
    if hasattr(first, "untyped_storage") and hasattr(second, "untyped_storage"):
        storages = [tensor.detach().untyped_storage() for tensor in (first, second)]
        return bool(storages[0].nbytes()) and bool(storages[0].data_ptr() == storages[1].data_ptr())
    return first is second and isinstance(first, list)


def _tracked(values: list[Any]) -> list[Any]:
    """Make the floating tensors among the arguments leaves of a graph and return them."""
    tensors = [array for array in _arrays(values) if not isinstance(array, np.ndarray)]
    inputs = [tensor for tensor in tensors if tensor.is_floating_point()]
    for tensor in inputs:
        tensor.requires_grad_(True)
    return inputs


def _gradients(value: Any, cotangents: list[Any], inputs: list[Any]) -> tuple[WireValue, ...] | None:
    """Return what :class:`~engine.runner.CallOutcome` says of gradients."""
    arrays = list(_arrays(value))
    fitting = len(arrays) == len(cotangents) and all(
        weight is None or tuple(weight.shape) == tuple(array.shape)
        for array, weight in zip(arrays, cotangents, strict=True)
    )
    if not fitting or not inputs:
        return None
    pairs = [
        (array, weight)
        for array, weight in zip(arrays, cotangents, strict=True)
        if weight is not None and getattr(array, "requires_grad", False)
    ]
    if not pairs:
        return None
    import torch

    try:
        # of their sum: torch imports sympy, which takes a second, for outputs that aren't numbers
        total = sum((array * weight.to(array.dtype)).sum() for array, weight in pairs)
        found = torch.autograd.grad(total, inputs, allow_unused=True)
    except Exception:
        return ()
    return tuple(None if gradient is None else _leaving(gradient) for gradient in found)


def _arrays(value: Any) -> Iterator[Any]:
    """Yield arrays and tensors in the order in which they are met."""
    if isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _arrays(item)
    elif hasattr(value, "shape") and hasattr(value, "dtype"):
        yield value


def _told(error: Exception, job: Job) -> ExceptionInfo:
    files = {f"{name}.py": f"{name}.py" for name in job.modules} | {job.filename: None}
    file, line, trace = None, None, error.__traceback__
    if isinstance(error, SyntaxError) and error.filename in files:
        file, line = files[error.filename], error.lineno
    while trace is not None and not isinstance(error, SyntaxError):
        if trace.tb_frame.f_code.co_filename in files:
            file, line = files[trace.tb_frame.f_code.co_filename], trace.tb_lineno
        trace = trace.tb_next
    return ExceptionInfo(type(error).__name__, str(error)[:2000], line, file)


def _arriving(value: WireValue) -> Any:
    if isinstance(value, WireArray):
        return _laid_out(value)
    if isinstance(value, list | tuple):
        return type(value)(_arriving(item) for item in value)
    if isinstance(value, dict):
        return {key: _arriving(item) for key, item in value.items()}
    if isinstance(value, StepFunction):
        return walker(value.name, array_of(value.tokens), _arriving(value.chances))
    return value


def _laid_out(leaf: WireArray) -> Any:
    """Return a fresh array or tensor; strided or (numpy only) read-only where the leaf says so."""
    array = array_of(leaf)
    strided = not leaf.contiguous and array.ndim > 0
    if strided:
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), dtype=array.dtype)
        wide[..., ::2] = array
    else:
        wide = array.copy()
    if leaf.library == "torch":
        import torch

        tensor = torch.from_numpy(wide).to(getattr(torch, leaf.dtype))  # bfloat16 was read as float32
        return tensor[..., ::2] if strided else tensor
    fresh = wide[..., ::2] if strided else wide
    fresh.flags.writeable = leaf.writeable
    return fresh


def _leaving(value: Any) -> WireValue:
    if isinstance(value, np.generic):
        value = np.asarray(value)  # leaves as an array of no axes, as from the sandbox
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biufc":
            raise TypeError(f"numpy array of {value.dtype}")
        if isinstance(value, np.ma.MaskedArray) and value.dtype.kind == "f" and np.ma.is_masked(value):
            value = value.filled(np.nan)  # as in the sandbox
        plain = np.asarray(value)  # a matrix or another subclass leaves as what it holds
        return leaf_of(np.ascontiguousarray(plain).reshape(value.shape), "numpy")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return (list if isinstance(value, list) else tuple)(_leaving(item) for item in value)
    if isinstance(value, dict):
        return {str(key): _leaving(item) for key, item in value.items()}
    return _tensor_leaving(value)


def _tensor_leaving(value: Any) -> WireArray:
    import torch

    if not isinstance(value, torch.Tensor):
        raise TypeError(type(value).__name__)
    plain = value.detach().cpu().contiguous()
    dtype = str(plain.dtype).removeprefix("torch.")
    if dtype == "bfloat16" and dtype in FLOATING:
        return WireArray("torch", dtype, tuple(plain.shape), plain.view(torch.int16).numpy().tobytes())
    leaf = leaf_of(plain.numpy(), "torch")
    return WireArray("torch", dtype, leaf.shape, leaf.data)
