"""What the grader sends a child: the file to load, then the calls and, where memory is shared, their arrays.

What a child says of its arguments after a call is its own word.  So where the system can share memory (T1 and
T2), the arrays of every call whose arguments are asked for lie in memory that the grader filled and can read:
a `Span` says where each of them lies, and what its bytes there mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from engine.parallel import LruCache
from engine.runner import Call, Job, StepFunction, WireArray, WireValue
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
    """

    frame: bytes
    count: int
    memory: bytes = b""
    spans: Mapping[int, Span] = field(default_factory=dict)


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
    key = (id(job.calls), job.limits.call_s, shared)
    entry = _plans.get(key)
    if entry is None:
        try:
            entry = job.calls, _encode_calls(job, shared=shared)
        except (UnsupportedError, TooLargeError, WireError) as error:
            raise ValueError(f"the plan holds what can't be sent to a child: {error}") from None
        _plans.put(key, entry)
    return entry[1]


# the last few plans: a class sends one plan, the same object, again and again; its calls are kept beside it,
# so that no other object can get their id
_plans = LruCache[tuple[object, EncodedPlan]](16)


def _encode_calls(job: Job, *, shared: bool) -> EncodedPlan:
    memory = _Memory()
    writer = TreeWriter(memory.describe, _MAX_PLAN_BYTES)
    calls = []
    spans: dict[int, Span] = {}
    offset = 0
    for index, call in enumerate(job.calls):
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
    body = {"calls": calls, "call_s": job.limits.call_s}
    frame = pack(FrameKind.PLAN, body, writer.blobs, MAX_PLAN_JSON)
    return EncodedPlan(frame, len(calls), bytes(memory.data), spans)


class _Memory:
    """Lays the arrays of calls out one after the other."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.placing = False
        self._start = 0
        self._places: list[int] = []

    def describe(self, value: Any, limit: int) -> ArrayNode | PlacedNode | StepNode:
        """Describe a wire value to a `TreeWriter`; arrays go into the memory while `placing` is set."""
        array = describe(value, limit)
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
