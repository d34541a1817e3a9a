"""What the grader sends a child: the file to load, then the calls and, where memory is shared, their arrays.

What a child says of its arguments after a call is its own word.  So where the system can share memory (T1 and
T2), the arrays of every call whose arguments are asked for lie in memory that the grader filled and can read:
a `Span` says where each of them lies, and what its bytes there mean.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from engine.errors import RunnerLostError, SandboxError
from engine.runner import Call, Job, LastingCalls, StepFunction, WireArray, WireValue
from engine.sandbox.child.modules import COMPILER
from engine.sandbox.child.wire import (
    ITEM_SIZES,
    MAX_JOB_NODES,
    MAX_PLAN_JSON,
    ArrayNode,
    FrameKind,
    PlacedNode,
    StepNode,
    TooLargeError,
    TreeWriter,
    UnsupportedError,
    WireError,
    array_size,
    pack,
)
from engine.text.words import count_noun, visible

_MAX_PLAN_BYTES = 2**31 - 1  # what the child's reader takes
_MAX_FILENAME = 100
# as torch aligns its own arrays, so that nothing is computed in another way than usual
_ALIGNMENT = 64


@dataclass(frozen=True, slots=True)
class Span:
    """The part of the memory that belongs to one call: from `start` to `end`.

    ``places`` says where in it each array begins that has entries, in the order in which they are met.
    """

    start: int
    end: int
    places: tuple[int, ...]

    def arguments(self, call: Call, data: bytes) -> tuple[WireValue, ...]:
        """Return the arguments of `call` as a child would send them back if these bytes were in them."""
        places = iter(self.places)

        def read(value: WireValue) -> WireValue:
            if isinstance(value, WireArray):
                start = next(places) if value.data else 0
                entries = _without_gaps(value, data[start : start + _extent(value)])
                return WireArray(value.library, value.dtype, value.shape, entries)
            if isinstance(value, dict):
                return {name: read(item) for name, item in value.items()}
            return type(value)(map(read, value)) if isinstance(value, (list, tuple)) else value

        return tuple(map(read, (*call.args, *call.kwargs.values())))


@dataclass(frozen=True, slots=True)
class EncodedPlan:
    """All calls of a job.

    Parameters
    ----------
    frame : bytes
    count : int
        How many calls there are.
    memory : bytes
        What the shared memory holds at first; empty where no array lies there.
    spans : mapping of int to Span
        By the number of the call; calls without such arrays have none.
    tensors : bool
        Whether any array in it is one of torch.
    replies : dict or None
        Replies to these calls that came before, decoded (see :mod:`engine.sandbox.replies`); None for calls
        that hardly come again.
    """

    frame: bytes
    count: int
    memory: bytes = b""
    spans: Mapping[int, Span] = field(default_factory=dict)
    tensors: bool = False
    replies: dict[tuple[bytes, bytes], Any] | None = None


_IMPORT = re.compile(r"\b(?:import|from)\b")
_TORCH = re.compile(r"\btorch")
_QUOTED = re.compile(r"""["']torch[.\w]*["']""")  # as `importlib.import_module` takes it
_COMPILER_WORD = re.compile(
    r"\b(?:optim|checkpoint|flex_attention|torch\.(?:broadcast_shapes|compile|func)|autograd\.grad|grad_outputs)\b"
    r"|\.backward\(\s*[^)\s]"
)


def shows_torch(sources: Iterable[str]) -> bool:
    """Return whether sources import torch, as far as their text shows.

    It needn't be right: where it is wrong, a process without torch is started in vain, or one with torch.
    """
    lines = (line for text in sources if "torch" in text for line in text.splitlines() if "torch" in line)
    return any(map(_line_shows_torch, lines))


def _line_shows_torch(line: str) -> bool:
    code = line.partition("#")[0]
    word = _IMPORT.search(code)
    return bool((word and _TORCH.search(code, word.end())) or _QUOTED.search(code))


def shown_library(sources: Collection[str]) -> str:
    """Return the heaviest library that sources need, as far as their text shows."""
    if not shows_torch(sources):
        return "numpy"
    return COMPILER if any(map(_COMPILER_WORD.search, sources)) else "torch"


def library_of(job: Job, plan: EncodedPlan) -> str:
    """Return what a job's process must have loaded: torch if it has tensors or imports torch, else numpy."""
    library = shown_library((job.source, *job.modules.values()))
    return "torch" if plan.tensors and library == "numpy" else library


class LibraryNeededError(Exception):
    """A job's process looked for a library that it hasn't: the job is to be run again beside the next.

    Nothing of the first run counts, so code that asks for this without need only makes itself run again.
    """


def encode_load(
    job: Job, first: int, load_s: float, output_bytes: int, output_nodes: int = MAX_JOB_NODES
) -> bytes:
    """Encode the request to load the file; calls begin with number `first`."""
    name = visible(PurePath(job.filename.replace("\0", "")).name[:_MAX_FILENAME])
    body = {
        "filename": name or "submission.py",
        "functions": list(job.functions),
        "load_s": load_s,
        "first": first,
        "output_bytes": output_bytes,
        "output_nodes": output_nodes,
        "modules": list(job.modules),
    }
    texts = [text.encode("utf-8", "surrogatepass") for text in (job.source, *job.modules.values())]
    return pack(FrameKind.LOAD, body | {"sizes": [len(text) for text in texts]}, texts)


def encode_plan(job: Job, *, shared: bool = False) -> EncodedPlan:
    """Encode the calls of a job; `shared` puts arguments that are asked for again into shared memory.

    Raises
    ------
    TypeError, ValueError
        For an argument that isn't a wire value: a fault of the plan, not of a submission.
    """
    calls, call_s = job.calls, job.limits.call_s
    try:
        if not isinstance(calls, LastingCalls):
            return _encode_calls(_SameCalls(calls), call_s, shared)
        if (call_s, shared) not in calls.made:
            plan = _encode_calls.__wrapped__(_SameCalls(calls), call_s, shared)
            calls.made[call_s, shared] = replace(plan, replies={})
        made: EncodedPlan = calls.made[call_s, shared]
        return made
    except (UnsupportedError, TooLargeError, WireError) as error:
        raise ValueError(f"the plan holds what can't be sent to a child: {error}") from None


class _SameCalls:
    """The calls of a plan as a key: equal to the very same object only, which it keeps alive.

    Comparing the calls themselves would mean comparing all arrays of a plan.
    """

    def __init__(self, calls: tuple[Call, ...]) -> None:
        self.calls = calls

    def __hash__(self) -> int:
        return id(self.calls)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SameCalls) and self.calls is other.calls


@lru_cache(16)  # the last few: a search for a counterexample may send the same calls again
def _encode_calls(same: _SameCalls, call_s: float, shared: bool) -> EncodedPlan:
    memory = _Memory()
    writer = TreeWriter(memory.describe, _MAX_PLAN_BYTES)
    calls = []
    spans: dict[int, Span] = {}
    offset = 0
    for index, call in enumerate(same.calls):
        first = len(writer.blobs)
        memory.placing = shared and call.return_arguments
        args = [writer.node(value) for value in call.args]
        kwargs = [[name, writer.node(value)] for name, value in call.kwargs.items()]
        memory.placing = False
        span = memory.end_call()
        if span is not None:
            spans[index] = span
        calls.append(
            {
                "f": call.function,
                "at": offset,
                "a": args,
                "k": kwargs,
                "r": call.return_arguments,
                "o": call.overwrite_result,
                "g": None if call.cotangents is None else [writer.node(c) for c in call.cotangents],
            }
        )
        offset += sum(map(len, writer.blobs[first:]))
    body = {"calls": calls, "call_s": call_s}
    frame = pack(FrameKind.PLAN, body, writer.blobs, MAX_PLAN_JSON)
    return EncodedPlan(frame, len(calls), bytes(memory.data), spans, memory.tensors)


class _Memory:
    """Lays the arrays of calls out one after the other."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.placing = False
        self.tensors = False
        self._start = 0
        self._places: list[int] = []

    def describe(self, value: Any, limit: int) -> ArrayNode | PlacedNode | StepNode:
        """Describe a wire value to a `TreeWriter`; arrays go into the memory while `placing` is set."""
        array = describe(value, limit)
        self.tensors = self.tensors or (isinstance(array, ArrayNode) and array.library == "torch")
        if (
            not self.placing
            or not isinstance(value, WireArray)
            or isinstance(array, StepNode)
            or not value.data
        ):
            return array
        if len(value.data) != array_size(value.dtype, value.shape):
            raise ValueError(f"{count_noun(len(value.data), 'byte')} for {value.dtype} {value.shape}")
        self.data += bytes(-len(self.data) % _ALIGNMENT)
        offset = len(self.data)
        self._places.append(offset - self._start)
        self.data += _with_gaps(value)
        if len(self.data) > _MAX_PLAN_BYTES:
            raise TooLargeError("bytes")
        return PlacedNode(array.library, array.dtype, array.shape, offset, array.contiguous, array.writeable)

    def end_call(self) -> Span | None:
        """Return the span of the call that ends here, None if it placed no array."""
        if not self._places:
            return None
        span = Span(self._start, len(self.data), tuple(self._places))
        self._start, self._places = len(self.data), []
        return span


def describe(value: Any, _limit: int) -> ArrayNode | StepNode:
    """Describe a wire value to a `TreeWriter`."""
    if isinstance(value, ArrayNode):
        return value
    if isinstance(value, StepFunction):  # nodes at once: it hands out copies of its table, no arguments
        return StepNode(value.name, _array(value.tokens), _array(value.chances))
    if isinstance(value, WireArray):
        return _array(value)
    raise TypeError(f"a {type(value).__name__} can't be sent to a child")


def _array(leaf: WireArray) -> ArrayNode:
    if leaf.library == "numpy" and leaf.dtype == "bfloat16":
        raise TypeError("numpy has no bfloat16")
    return ArrayNode(leaf.library, leaf.dtype, leaf.shape, leaf.data, leaf.contiguous, leaf.writeable)


def _has_gaps(leaf: WireArray) -> bool:
    return not leaf.contiguous and bool(leaf.shape)


def _extent(leaf: WireArray) -> int:
    return len(leaf.data) * (1 + _has_gaps(leaf))


def _with_gaps(leaf: WireArray) -> bytes:
    """Return the bytes as the child lays them out: of a view with gaps, every other item is zero."""
    if not _has_gaps(leaf):
        return leaf.data
    size = ITEM_SIZES[leaf.dtype]
    wide = bytearray(2 * len(leaf.data))
    for byte in range(size):
        wide[byte :: 2 * size] = leaf.data[byte::size]
    return bytes(wide)


def _without_gaps(leaf: WireArray, data: bytes) -> bytes:
    """Return the bytes of the entries; what was written between them doesn't count."""
    if not _has_gaps(leaf):
        return data
    size = ITEM_SIZES[leaf.dtype]
    dense = bytearray(len(leaf.data))
    for byte in range(size):
        dense[byte::size] = data[byte :: 2 * size]
    return bytes(dense)


class SharedArrays:
    """The memory of one child in which the arrays of a plan lie, as the grader fills it and looks at it.

    What a child says of its arguments is its own word; these bytes aren't.  They are compared when a reply
    has been read, and once more when the process is dead, so whatever a later call does to the arrays of an
    earlier one is seen too; the child needn't wait for us after each call.

    Parameters
    ----------
    plan : EncodedPlan

    Raises
    ------
    SandboxError
        If the machine gives no such memory.
    """

    def __init__(self, plan: EncodedPlan) -> None:
        import fcntl  # Windows hasn't got it, and shares no memory

        self._plan = plan
        self.changed: dict[int, bytes] = {}  # the bytes found, by the number of the call
        self.size = len(plan.memory)
        self.fd = -1
        # a child that could shrink it would make us read past its end; none can write a seal of its own
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        try:
            self.fd = _memory_file()
            os.ftruncate(self.fd, self.size)
            fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, seals)
        except OSError as error:
            self.close()
            raise SandboxError("no memory can be shared with the sandbox", got=str(error)) from None

    def fill(self) -> None:
        """Put the arrays there: now the file is loaded."""
        written = 0
        try:
            while written < self.size:
                written += os.pwrite(self.fd, memoryview(self._plan.memory)[written:], written)
        except OSError as error:
            raise RunnerLostError("the machine has no memory for the arguments", got=str(error)) from None

    def look(self, index: int) -> None:
        """Note whether the arrays of one call, which has been answered, are other than they were."""
        span = self._plan.spans.get(index)
        if span is not None and index not in self.changed:
            data = os.pread(self.fd, span.end - span.start, span.start)
            if data != self._plan.memory[span.start : span.end]:
                self.changed[index] = data

    def look_again(self, indices: Iterable[int]) -> None:
        """Look at all these calls when the process is dead."""
        if os.pread(self.fd, self.size, 0) != self._plan.memory:
            for index in indices:
                self.look(index)

    def close(self) -> None:
        """Give it back; a child that still has it mapped keeps it alive."""
        if self.fd >= 0:
            os.close(self.fd)


_MFD_NOEXEC_SEAL = 0x8


def _memory_file() -> int:
    flags = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING
    try:  # a machine may be set up to give no memory that could be executed
        return os.memfd_create("softmark-arrays", flags | _MFD_NOEXEC_SEAL)
    except OSError:  # kernels before 6.3 don't know it
        return os.memfd_create("softmark-arrays", flags)
