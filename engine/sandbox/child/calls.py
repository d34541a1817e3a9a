"""Loads student code and calls its functions; whatever happens becomes a small JSON report.

Everything that student code can throw is caught here (`BaseException`), everything it returns is
encoded under a cap, and no text of ours quotes it.
"""

from __future__ import annotations

import gc
import signal
import sys
import time
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np

from .arrays import (
    KeptResults,
    MismatchError,
    describe,
    differentiate,
    make_array,
    plain,
    track,
    view_array,
    writes_through,
)
from .modules import Tolerate, add_source, main_module, offer_modules, run_statements
from .standins import offer_standins
from .wire import (
    CONTIGUOUS,
    IN_PLACE,
    MAX_REPLY_NODES,
    MAX_STRING,
    WRITEABLE,
    PlacedNode,
    StepNode,
    TooLargeError,
    TreeReader,
    TreeWriter,
    UnsupportedError,
)

if TYPE_CHECKING:
    from .linux import SharedMemory

# The grader cuts them in the same way; here so that a reply stays small.
_MAX_TEXT: Final = 2000
_MAX_NAME: Final = 100
_MAX_FAILED: Final = 3  # statements reported: those after the first often fail because of it
_REPEAT_S: Final = 0.1  # code may catch the interruption, so it comes again
_DESCRIBE_S: Final = 0.5  # for an exception's own __str__
_OUT_OF_MEMORY_TEXTS: Final = (
    "can't allocate memory", "bad_alloc", "not enough memory", "Cannot allocate memory", "CUDA out of memory",
)  # fmt: skip

Report = dict[str, Any]
Files = Mapping[str, str]  # names for tracebacks -> module; "" is the submission itself


def make_step(node: StepNode, fresh: Callable[[Any], Any]) -> Callable[[Any, Any], tuple[Any, Any]]:
    """Return the step function of a table.

    A state is the tuple of all tokens that were fed so far, empty at first. The new state without its first
    token (the start symbol) selects the row; tokens that lead to no row get the last one, so that wrong
    code gets an answer too.

    Parameters
    ----------
    node : StepNode
    fresh : callable
        Copies a row, so that student code can't change the table.

    Returns
    -------
    callable
        Tokens and states are compared by value, not by type: a token may be an ``int`` or the 0-d
        array of an argmax. Anything else, or a state that the function didn't return, raises `LookupError`.
    """
    keys = [tuple(token for token in row if token >= 0) for row in node.tokens.tolist()]
    rows = {key: node.chances[index] for index, key in enumerate(keys)}
    name, other = node.name, node.chances[-1]

    def step(y: Any, s: Any) -> tuple[Any, Any]:
        token, state = _plain_step(y), _plain_step(s)
        if type(token) is not int:
            raise LookupError(f"{name}() was called with something else than one token")
        if type(state) is not tuple:
            raise LookupError(f"{name}() was called with a state that it didn't give")
        state = (*state, token)
        return fresh(rows.get(state[1:], other)), state

    step.__name__ = step.__qualname__ = name
    return step


def _plain_step(value: Any) -> Any:
    """Return a token as an int and a state as a tuple, whatever they are wrapped in."""
    if hasattr(value, "detach"):
        value = value.detach()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        tokens = tuple(_plain_step(item) for item in value)
        return tokens if all(type(token) is int for token in tokens) else None
    if type(value) in (int, float, bool) and value == value // 1:  # not for infinities and NaN
        return int(value)
    return None


class LoadedSubmission(NamedTuple):
    """A submission in memory."""

    module: types.ModuleType
    files: Files
    report: Report
    results: KeptResults


class _OutOfTimeError(BaseException):
    """Raised inside student code when its processor time is used up."""


# the function of C behind the one of Python, which makes enumeration members: this is done for every call
_set_handler: Final[Callable[..., Any]] = sys.modules["_signal"].signal


class _Clock:
    """A processor-time limit that interrupts Python code, again and again until it gives in.

    Processor time, so that a busy machine fails nobody; code that sleeps is stopped by the grader's clock.
    """

    armed = False
    rang = False

    def start(self, seconds: float | None) -> None:
        """Set the clock; without seconds it stays silent, as where programs of ours run in any thread."""
        self.armed, self.rang = seconds is not None, False
        if seconds is not None and hasattr(signal, "setitimer"):
            _set_handler(signal.SIGPROF, self._ring)  # only the main thread may do that
            signal.setitimer(signal.ITIMER_PROF, seconds, _REPEAT_S)

    def stop(self) -> None:
        """Stop the clock."""
        was_armed, self.armed = self.armed, False
        if was_armed and hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_PROF, 0)

    def _ring(self, *_: object) -> None:
        if self.armed:
            self.rang = True
            raise _OutOfTimeError


_clock = _Clock()


def load(
    source: str, filename: str, functions: list[str], cpu_s: float, others: Mapping[str, str]
) -> LoadedSubmission:
    """Import the source as a module.

    Parameters
    ----------
    source, filename : str
        The file's text, and its name for tracebacks.
    functions : list of str
        Names that it should define.
    cpu_s : float
        Processor time that it may take.
    others : mapping of str to str
        The files beside it, module name to source.

    Returns
    -------
    LoadedSubmission
        The report holds ``status``, ``exception``, ``missing``, ``seconds``, and ``failed``: what the first
        statements raised that didn't keep the rest from being loaded.
    """
    names = {name: f"{name}.py" if f"{name}.py" != filename else f"./{name}.py" for name in others}
    files = {file: name for name, file in names.items()} | {filename: ""}
    module = main_module(filename, source, others)
    add_source(filename, source)

    def offer(tolerate: Tolerate) -> None:
        if others:
            offer_modules(module, others, names, tolerate)
        offer_standins(module, source)

    return load_into(module, source, files, functions, cpu_s, offer)


def load_into(
    module: types.ModuleType,
    source: str,
    files: Files,
    functions: Sequence[str],
    cpu_s: float | None,
    offer: Callable[[Tolerate], None],
) -> LoadedSubmission:
    """Run the source in a module that is empty yet.

    Parameters
    ----------
    module : module
        With the file's name for tracebacks.
    source : str
    files : mapping of str to str
        Names for tracebacks to modules, "" for the submission itself.
    functions, cpu_s
        As for :func:`load`; None for no limit.
    offer : callable
        Makes imports find what they should; it gets what becomes of statements that raise.
    """
    failed: list[BaseException] = []
    filename = str(module.__file__)

    def tolerate(error: BaseException) -> None:
        if _clock.rang or isinstance(error, MemoryError | _OutOfTimeError):
            raise error
        if isinstance(error, RuntimeError) and _tells_of_memory(str(error)):
            raise error
        if len(failed) < _MAX_FAILED:
            failed.append(error)

    offer(tolerate)

    def act() -> Report:
        run_statements(source, filename, module.__dict__, tolerate)
        return {"status": "returned"}

    report = _guarded(act, files, cpu_s)
    explained = [_explained(error, files, cpu_s) for error in failed]
    report["failed"] = [entry["exception"] for entry in explained if "exception" in entry]
    defined = module.__dict__
    report["missing"] = [name for name in functions if not callable(defined.get(name))]
    return LoadedSubmission(module, files, report, KeptResults())


class ReplyWriter(Protocol):
    """Takes down values as :class:`TreeWriter` does, whatever it makes of them."""

    nodes: int
    blobs: list[bytes]

    def node(self, value: Any) -> Any:
        """Return what stands for a value in a report."""
        ...


class PlannedCalls(Protocol):
    """The calls of one job, and fresh arguments for each."""

    calls: Sequence[Mapping[str, Any]]
    call_s: float | None

    def arguments(self, index: int) -> tuple[list[Any], dict[str, Any], list[Any] | None]:
        """Return fresh positional and keyword arguments of one call, and its cotangents."""
        ...

    def is_placed(self, index: int, place: int) -> bool:
        """Return whether the grader itself sees all arrays of one argument, those by keyword last."""
        ...

    def writer(self, max_bytes: int, max_nodes: int) -> ReplyWriter:
        """Return what takes down the results of one call, under these caps."""
        ...


class DecodedCalls:
    """The calls of one job, decoded one by one.

    Parameters
    ----------
    body : dict
        ``calls`` (each ``f``, ``a``, ``k``, ``r``, ``o``, ``g``, ``at``) and ``call_s``.
    blob : memoryview
        All leaves but those in shared memory; ``at`` says where a call's own begin.
    memory : SharedMemory, optional
        Where the other arrays lie.
    """

    def __init__(self, body: dict[str, Any], blob: memoryview, memory: SharedMemory | None = None) -> None:
        self.calls: Sequence[Mapping[str, Any]] = body["calls"]
        self.call_s: float | None = body["call_s"]
        self._blob = blob
        self._memory = memory

    def arguments(self, index: int) -> tuple[list[Any], dict[str, Any], list[Any] | None]:
        """Return fresh positional and keyword arguments of one call, and its cotangents."""
        call = self.calls[index]
        reader = TreeReader(self._blob, make_array, _make_step, self._view)
        reader.skip_to(call["at"])
        args = [self._argument(node, reader) for node in call["a"]]
        kwargs = {name: self._argument(node, reader) for name, node in call["k"]}
        return args, kwargs, None if call["g"] is None else [reader.value(node) for node in call["g"]]

    def _argument(self, node: Any, reader: TreeReader) -> Any:
        if type(node) is not list or node[0] != "m":
            return reader.value(node)
        _, library, dtype, shape, flags, at = node  # the grader's own: nothing to check, for every array
        form = bool(flags & CONTIGUOUS), bool(flags & WRITEABLE)
        return self._view(PlacedNode(library, dtype, tuple(shape), at, *form))

    def is_placed(self, index: int, place: int) -> bool:
        """Return whether all arrays of one argument lie in the memory that the grader sees."""
        call = self.calls[index]
        positional: list[Any] = call["a"]
        node = positional[place] if place < len(positional) else call["k"][place - len(positional)][1]
        if type(node) is list and node[0] == "d":
            return all(type(entry) is list and entry[0] == "m" for _, entry in node[1:])
        return type(node) is list and node[0] == "m"

    def writer(self, max_bytes: int, max_nodes: int) -> ReplyWriter:
        """Return a writer of nodes."""
        return TreeWriter(_describe, max_bytes, min(max_nodes, MAX_REPLY_NODES))

    def _view(self, node: PlacedNode) -> Any:
        assert self._memory is not None
        return view_array(node, self._memory.buffer)


def _make_step(node: StepNode) -> Callable[..., Any]:
    return make_step(node, copy_row)


def copy_row(row: Any) -> Any:
    """Return a copy of an array or a tensor."""
    return row.clone() if hasattr(row, "clone") else row.copy()


def run_call(
    loaded: LoadedSubmission, plan: PlannedCalls, index: int, max_bytes: int, max_nodes: int
) -> tuple[Report, list[bytes], int]:
    """Do one call of the plan.

    Returns
    -------
    report : dict
        ``index``, ``status``, and ``value``, ``arguments``, ``shared``, ``kept``, ``gradients``,
        ``exception``, ``code`` as they apply.
    blobs : list of bytes
        The leaves of value, arguments and gradients.
    nodes : int
        How many nodes they have.
    """
    call = plan.calls[index]
    function = loaded.module.__dict__.get(call["f"])
    if not callable(function):
        return {"index": index, "status": "not_run", "code": "missing", "seconds": 0.0}, [], 0
    writer = plan.writer(max_bytes, max_nodes)
    begun = time.perf_counter()

    def act() -> Report:
        nonlocal begun
        args, kwargs, cotangents = plan.arguments(index)  # memory may be short already
        inputs = [] if cotangents is None else track([*args, *kwargs.values()])
        # in tuples: code that overwrites an array can't put a copy into the caller's list in its stead
        passed = tuple((v, dict(v) if type(v) is dict else None) for v in (*args, *kwargs.values()))
        forms = [
            _form_of(v) if call["r"] and plan.is_placed(index, i) else None for i, (v, _) in enumerate(passed)
        ]
        begun = time.perf_counter()
        value = plain(function(*args, **kwargs))
        seconds = time.perf_counter() - begun
        report: Report = {"status": "returned", "seconds": seconds, "value": writer.node(value)}
        if call["r"]:
            report["arguments"] = [
                None
                if callable(v) or _has_others(v, entries) or _tracks(v, inputs)
                else [IN_PLACE]
                if form is not None and form == _form_of(v)
                else writer.node(v)
                for (v, entries), form in zip(passed, forms, strict=True)
            ]
        if call["o"] and cotangents is None:
            report["shared"] = writes_through(value, [v for v, _ in passed], max_bytes)
            report["kept"] = loaded.results.again(value)
        if cotangents is not None:
            report["gradients"] = _gradients(value, cotangents, inputs, writer)
        return report

    report = _guarded(act, loaded.files, plan.call_s)
    report["index"] = index
    report["seconds"] = report.pop("seconds")  # last: the rest says the same whenever it is done again
    return (report, writer.blobs, writer.nodes) if report["status"] == "returned" else (report, [], 0)


def _form_of(value: Any) -> tuple[Any, ...] | None:
    """Return what an array is but its entries: equal forms of one object mean the same place in memory.

    A record is the forms of its arrays; None stands for anything else.
    """
    kind = type(value)
    if kind is np.ndarray:
        return value.shape, value.strides, value.dtype, id(value.base)
    if kind is dict:
        forms = [(name, _form_of(entry)) for name, entry in value.items()]
        return None if any(form is None for _, form in forms) else tuple(forms)
    torch = sys.modules.get("torch")
    if torch is not None and kind is torch.Tensor:
        return value.shape, value.stride(), value.dtype, value.data_ptr()
    return None


def _tracks(argument: Any, inputs: list[Any]) -> bool:
    """Return whether a tensor gathers gradients since the call: the next one would find those of this one."""
    return getattr(argument, "requires_grad", False) is True and not any(argument is x for x in inputs)


def _has_others(argument: Any, entries: dict[str, Any] | None) -> bool:
    """Return whether a dict holds other objects than before the call."""
    if entries is None:
        return False
    return argument.keys() != entries.keys() or any(argument[name] is not entries[name] for name in entries)


def _gradients(value: Any, cotangents: list[Any], inputs: list[Any], writer: ReplyWriter) -> list[Any] | None:
    """Return the nodes of the gradients: none at all if differentiating failed, None if there are none."""
    try:
        return [writer.node(gradient) for gradient in differentiate(value, cotangents, inputs)]
    except MismatchError:
        return None
    except (TooLargeError, MemoryError, _OutOfTimeError):
        raise
    except BaseException as error:  # a backward function of the student's own can raise anything
        if type(error) is RuntimeError and _tells_of_memory(str(error)):
            raise
        return []


def _describe(value: Any, limit: int) -> Any:
    try:
        return describe(value, limit)
    except (UnsupportedError, TooLargeError, MemoryError, _OutOfTimeError):
        raise
    except Exception:  # a wrapped or half-made tensor can fail in any way
        raise UnsupportedError("object") from None


def _guarded(act: Callable[[], Report], files: Files, cpu_s: float | None) -> Report:
    """Do `act` within its processor time; whatever it raises becomes a report."""
    begun = time.perf_counter()
    try:
        try:
            _clock.start(cpu_s)
            report = act()
        finally:
            _clock.stop()
    except _OutOfTimeError:
        _clock.stop()  # it may have rung while it was being stopped
        report = {"status": "timed_out"}
    except UnsupportedError as error:
        report = {"status": "unsupported", "code": str(error)}
    except TooLargeError as error:
        report = {"status": "too_large", "code": str(error)}
    except BaseException as error:
        if cpu_s is None and not isinstance(error, Exception):
            raise  # in the grader's own process an interruption means the grader
        report = {"status": "timed_out"} if _clock.rang else _explained(error, files, cpu_s)
    if _clock.rang:  # even if the code caught the interruption and went on
        report = {"status": "timed_out"}
    report.setdefault("seconds", time.perf_counter() - begun)
    return report


def _explained(error: BaseException, files: Files, cpu_s: float | None) -> Report:
    """Describe an exception without trusting any of its methods."""
    name = _class_name(error)
    file, line = _place(error, files)
    text = ""
    try:
        try:
            _clock.start(None if cpu_s is None else _DESCRIBE_S)
            text = _plain(str(error))
        finally:
            _clock.stop()
    except BaseException:
        _clock.stop()
        text = "(its text can't be shown)"
    _clock.rang = False
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _tells_of_memory(text)):
        gc.collect()
        return {"status": "out_of_memory"}
    return {"status": "raised", "exception": {"type": name, "text": text, "file": file, "line": line}}


def _tells_of_memory(text: str) -> bool:  # torch and C++ raise a plain RuntimeError for it
    return any(phrase in text for phrase in _OUT_OF_MEMORY_TEXTS)


def _class_name(error: BaseException) -> str:
    getter = type.__dict__["__name__"].__get__  # a metaclass may lie
    return _plain(getter(type(error)))[:_MAX_NAME]


def _plain(text: str) -> str:
    cut = str.__getitem__(text, slice(0, _MAX_TEXT))
    return cut.encode("utf-8", "replace").decode("utf-8")


def _place(error: BaseException, files: Files) -> tuple[str, int | None]:
    """Return module and line of the innermost frame in the student's own files."""
    if isinstance(error, SyntaxError) and type(error.filename) is str and error.filename in files:
        return files[error.filename], error.lineno if type(error.lineno) is int else None
    file, line = "", None
    trace = error.__traceback__
    for _ in range(MAX_STRING):  # a bound, whatever the code made of it
        if trace is None:
            break
        if trace.tb_frame.f_code.co_filename in files:
            file, line = files[trace.tb_frame.f_code.co_filename], trace.tb_lineno
        trace = trace.tb_next
    return file, line if type(line) is int else None
