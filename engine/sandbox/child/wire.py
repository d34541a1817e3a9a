"""The wire between grader and child: frames, and value trees as JSON with raw leaves.

A frame is a fixed header (magic, kind, length of the JSON, length of the blob), the JSON, the
blob.  A value tree is JSON; an array is a node that names library, dtype and shape, and its bytes
lie in the blob, in the order in which the nodes are met.  There are no offsets, so no two leaves
can claim the same bytes, and the blob's length bounds what a reader materialises.

Nodes: ``null``, ``true``, numbers and strings are themselves; the rest are arrays that begin with
a tag: ``["l", …]`` list, ``["t", …]`` tuple, ``["d", [key, value], …]`` dict,
``["a", library, dtype, shape, flags]`` array, ``["f", name, tokens, chances]`` step function,
``["m", library, dtype, shape, flags, at]`` array in the memory that grader and child share.  The last two
are in plans only. Where the arguments of a call come back, ``["u"]`` says of one that it is still the array,
or the record of arrays, in that memory: the grader looks there by itself.

Only the standard library is used.  Neither pickle nor eval is: a reader makes exactly the types
that are listed here.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

MAX_DEPTH: Final = 32  # each level is a call of the reader: far from Python's own limit
MAX_NODES: Final = 200_000  # of a plan, which is ours
# a reply's, and those of all replies of one submission: each costs the grader some microseconds
MAX_REPLY_NODES: Final = 20_000
MAX_JOB_NODES: Final = 100_000
MAX_STRING: Final = 1_000_000
MAX_INT_BITS: Final = 4096  # Python takes quadratic time to write or read the digits
MAX_PLAN_JSON: Final = 8 * 2**20
MAX_REPLY_JSON: Final = 2**20  # parsed it takes some thirty times as much memory of the grader
MAX_DIMENSIONS: Final = 32  # numpy's own limit
_MAX_AXIS: Final = 2**48
# every frame may be this much larger than what it takes off the cap on results
FRAME_OVERHEAD: Final = 2**16

IN_PLACE: Final = "u"

CONTIGUOUS: Final = 1
WRITEABLE: Final = 2

# dtype -> itemsize; what is not listed does not travel
ITEM_SIZES: Final = {
    "bool": 1, "uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "uint32": 4, "int32": 4,
    "uint64": 8, "int64": 8, "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8,
    "complex128": 16,
}  # fmt: skip

# lists and dicts of a reply as JSON: counted before it is parsed, for making them is what takes time
_MAX_CONTAINERS: Final = 4 * MAX_REPLY_NODES

_COMPACT = json.JSONEncoder(separators=(",", ":"))
_HEADER = struct.Struct("<4sB3xIQ")
_MAGIC = b"SMK1"


class FrameKind:
    """Kinds of frame: one byte each."""

    # grader to child
    LOAD: Final = 1
    PLAN: Final = 2
    # child to grader
    LOCKED: Final = 16
    LOADED: Final = 17
    RESULT: Final = 18
    END: Final = 19
    BROKEN: Final = 20
    READY: Final = 21  # a worker that waits for its one job


class WireError(Exception):
    """Bytes that break the format.  Never raised for what a correct writer wrote."""


class UnsupportedError(Exception):
    """A value of a kind that doesn't travel; the message is one of our own short codes."""


class TooLargeError(Exception):
    """A value over a cap on bytes, nodes, depth or digits."""


class WireFrame(NamedTuple):
    """One message; `body` is None where the reader left the JSON as `text`."""

    kind: int
    body: Any
    blob: memoryview
    text: bytes = b""


class ArrayNode(NamedTuple):
    """An array as it lies on the wire; ``data`` is little-endian, C order."""

    library: str
    dtype: str
    shape: tuple[int, ...]
    data: memoryview | bytes
    contiguous: bool = True
    writeable: bool = True


class PlacedNode(NamedTuple):
    """An array whose bytes lie in shared memory from ``offset`` on; if not ``contiguous``, with gaps."""

    library: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    contiguous: bool = True
    writeable: bool = True


class StepNode(NamedTuple):
    """A table that stands for a step function: sequences of tokens, and a row for each and one more."""

    name: str
    tokens: Any
    chances: Any


def pack(
    kind: int, body: Any, blobs: list[bytes] | tuple[bytes, ...] = (), max_json: int = MAX_REPLY_JSON
) -> bytes:
    """Return one frame.

    Parameters
    ----------
    kind : int
        One of :class:`FrameKind`.
    body : object
        Anything that JSON can say.
    blobs : list of bytes
        Leaves in the order of their nodes.
    max_json : int
        Cap on the JSON.

    Raises
    ------
    TooLargeError
        If the JSON is over its cap.
    """
    text = _COMPACT.encode(body).encode("ascii")
    # a plan is the grader's own and may be as bushy as it likes
    if len(text) > max_json or (max_json == MAX_REPLY_JSON and _is_bushy(text)):
        raise TooLargeError("json")
    return b"".join((_HEADER.pack(_MAGIC, kind, len(text), sum(map(len, blobs))), text, *blobs))


class FrameReader:
    """Cuts a stream of bytes into frames; a header that claims too much is refused at once.

    Parameters
    ----------
    max_blob, max_json : int
        Most bytes that one frame may carry.
    unparsed : int, optional
        The kind of frame whose JSON the caller parses.
    """

    def __init__(self, max_blob: int, max_json: int = MAX_REPLY_JSON, unparsed: int | None = None) -> None:
        self._max_blob = max_blob
        self._max_json = max_json
        self._unparsed = unparsed
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Take in the next bytes of the stream."""
        self._buffer += data

    @property
    def pending(self) -> int:
        """Bytes of a frame that isn't complete."""
        return len(self._buffer)

    def frames(self) -> Iterator[WireFrame]:
        """Yield the complete frames.

        Raises
        ------
        WireError
            For a wrong magic, a frame over the caps, or a body that isn't JSON.
        """
        while (frame := self._next()) is not None:
            yield frame

    def _next(self) -> WireFrame | None:
        if len(self._buffer) < _HEADER.size:
            return None
        magic, kind, n_json, n_blob = _HEADER.unpack_from(self._buffer)
        if magic != _MAGIC or n_json > self._max_json or n_blob > self._max_blob:
            raise WireError("header")
        end = _HEADER.size + n_json + n_blob
        if len(self._buffer) < end:
            return None
        text = bytes(self._buffer[_HEADER.size : _HEADER.size + n_json])
        if self._max_json == MAX_REPLY_JSON and _is_bushy(text):
            raise WireError("json")
        blob = bytes(self._buffer[_HEADER.size + n_json : end])
        del self._buffer[:end]
        if kind == self._unparsed:
            return WireFrame(kind, None, memoryview(blob), text)
        return WireFrame(kind, parse_json(text), memoryview(blob))


def _is_bushy(text: bytes) -> bool:
    return text.count(b"[") + text.count(b"{") > _MAX_CONTAINERS


def parse_json(text: bytes) -> Any:
    """Parse a body; everything that can go wrong becomes a `WireError`."""
    try:
        return json.loads(text.decode("ascii"))
    except (ValueError, RecursionError, MemoryError):
        raise WireError("json") from None


class TreeWriter:
    """Turns values into nodes and collects the bytes of their leaves.

    Parameters
    ----------
    describe : callable
        Called for everything that isn't a plain value: returns an `ArrayNode`, `PlacedNode` or `StepNode`,
        or raises `UnsupportedError`.  It gets the bytes that are left, to check *before* it
        materialises.
    max_bytes : int
        Cap on leaves and text together.
    max_nodes : int
    """

    def __init__(
        self,
        describe: Callable[[Any, int], ArrayNode | PlacedNode | StepNode],
        max_bytes: int,
        max_nodes: int = MAX_NODES,
    ) -> None:
        self._describe = describe
        self._bytes_left = max_bytes
        self._max_nodes = max_nodes
        self.nodes = 0
        self.blobs: list[bytes] = []

    def node(self, value: Any, depth: int = 0) -> Any:
        """Return the node of `value`.

        Raises
        ------
        UnsupportedError, TooLargeError
        """
        self.nodes += 1
        if self.nodes > self._max_nodes or depth > MAX_DEPTH:
            raise TooLargeError("tree")
        kind = type(value)
        if value is None or kind is bool or kind is float:
            return value
        if kind is int:
            return self._integer(value)
        if kind is str:
            return self._text(value)
        if kind is list or kind is tuple:
            return ["l" if kind is list else "t", *[self.node(v, depth + 1) for v in value]]
        if kind is dict:
            return ["d", *[[self._key(k), self.node(v, depth + 1)] for k, v in value.items()]]
        return self._leaf(self._describe(value, self._bytes_left), depth)

    def _spend(self, size: int) -> None:
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise TooLargeError("bytes")

    def _integer(self, value: int) -> int:
        if value.bit_length() > MAX_INT_BITS:
            raise TooLargeError("integer")
        return value

    def _text(self, value: str) -> str:
        if len(value) > MAX_STRING:
            raise TooLargeError("text")
        self._spend(len(value))
        return value.encode("utf-8", "replace").decode("utf-8")

    def _key(self, key: Any) -> str:
        if type(key) is not str:
            raise UnsupportedError("dict-key")
        return self._text(key)

    def _leaf(self, leaf: ArrayNode | PlacedNode | StepNode, depth: int) -> list[Any]:
        if isinstance(leaf, StepNode):
            return ["f", leaf.name, self.node(leaf.tokens, depth + 1), self.node(leaf.chances, depth + 1)]
        if len(leaf.shape) > MAX_DIMENSIONS:
            raise TooLargeError("dimensions")
        flags = CONTIGUOUS * leaf.contiguous | WRITEABLE * leaf.writeable
        if isinstance(leaf, PlacedNode):
            return ["m", leaf.library, leaf.dtype, list(leaf.shape), flags, leaf.offset]
        if len(leaf.data) != array_size(leaf.dtype, leaf.shape):
            raise ValueError(f"{len(leaf.data)} bytes for {leaf.dtype} {leaf.shape}")
        self._spend(len(leaf.data))
        self.blobs.append(bytes(leaf.data))
        return ["a", leaf.library, leaf.dtype, list(leaf.shape), flags]


def array_size(dtype: str, shape: tuple[int, ...]) -> int:
    """Return the bytes that an array takes; an unknown dtype is a `WireError`."""
    if dtype not in ITEM_SIZES:
        raise WireError("dtype")
    return ITEM_SIZES[dtype] * math.prod(shape)


class TreeReader:
    """Turns nodes back into values, taking the leaves' bytes off the blob in turn.

    Parameters
    ----------
    blob : memoryview
    array, step, placed : callable
        Make the value of an `ArrayNode`, a `StepNode` and a `PlacedNode`; without the last two such a node
        is a `WireError` (a child never sends one).
    max_nodes : int
    """

    def __init__(
        self,
        blob: memoryview,
        array: Callable[[ArrayNode], Any],
        step: Callable[[StepNode], Any] | None = None,
        placed: Callable[[PlacedNode], Any] | None = None,
        max_nodes: int = MAX_NODES,
    ) -> None:
        self._blob = blob
        self._offset = 0
        self._max_nodes = max_nodes
        self.nodes = 0
        self._array = array
        self._step = step
        self._placed = placed
        self._tags = {
            "l": self._list,
            "t": self._tuple,
            "d": self._dict,
            "a": self._leaf,
            "f": self._function,
            "m": self._in_memory,
        }

    def value(self, node: Any, depth: int = 0) -> Any:
        """Return the value of `node`; raise `WireError` for anything malformed."""
        self.nodes += 1
        if self.nodes > self._max_nodes or depth > MAX_DEPTH:
            raise WireError("tree")
        if node is None or isinstance(node, (bool, float)):
            return node
        if isinstance(node, int):
            return self._integer(node)
        if isinstance(node, str):
            return self._text(node)
        if not isinstance(node, list) or not node or not isinstance(node[0], str):
            raise WireError("node")
        reader = self._tags.get(node[0])
        if reader is None:
            raise WireError("tag")
        return reader(node[1:], depth + 1)

    def _integer(self, node: int) -> int:
        if node.bit_length() > MAX_INT_BITS:
            raise WireError("integer")
        return node

    def _text(self, node: str) -> str:
        if len(node) > MAX_STRING:
            raise WireError("text")
        try:
            node.encode()
        except UnicodeEncodeError:  # a lone surrogate would fail wherever the text is written
            raise WireError("text") from None
        return node

    def skip_to(self, offset: int) -> None:
        """Go to a place in the blob (only ever called with the grader's own numbers)."""
        self._offset = offset

    def done(self) -> None:
        """Check that every byte was used."""
        if self._offset != len(self._blob):
            raise WireError("left over bytes")

    def _list(self, items: list[Any], depth: int) -> list[Any]:
        return [self.value(item, depth) for item in items]

    def _tuple(self, items: list[Any], depth: int) -> tuple[Any, ...]:
        return tuple(self._list(items, depth))

    def _dict(self, items: list[Any], depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for item in items:
            if not isinstance(item, list) or len(item) != 2:
                raise WireError("pair")
            key, node = item
            if not isinstance(key, str) or key in result:
                raise WireError("key")
            result[self._text(key)] = self.value(node, depth)
        return result

    def _leaf(self, fields: list[Any], depth: int) -> Any:
        library, dtype, shape, flags = _array_fields(fields)
        size = array_size(dtype, tuple(shape))
        if size > len(self._blob) - self._offset:
            raise WireError("bytes")
        data = self._blob[self._offset : self._offset + size]
        self._offset += size
        return self._array(ArrayNode(library, dtype, tuple(shape), data, *_flags(flags)))

    def _in_memory(self, fields: list[Any], depth: int) -> Any:
        if self._placed is None or len(fields) != 5 or type(fields[4]) is not int:
            raise WireError("placed")
        library, dtype, shape, flags = _array_fields(fields[:4])
        return self._placed(PlacedNode(library, dtype, tuple(shape), fields[4], *_flags(flags)))

    def _function(self, fields: list[Any], depth: int) -> Any:
        if self._step is None or len(fields) != 3 or not isinstance(fields[0], str):
            raise WireError("step")
        return self._step(StepNode(fields[0], self.value(fields[1], depth), self.value(fields[2], depth)))


def _flags(flags: int) -> tuple[bool, bool]:
    return bool(flags & CONTIGUOUS), bool(flags & WRITEABLE)


def _array_fields(fields: list[Any]) -> tuple[str, str, list[int], int]:
    if len(fields) != 4:
        raise WireError("array")
    library, dtype, shape, flags = fields
    if library not in ("numpy", "torch") or not isinstance(dtype, str) or type(flags) is not int:
        raise WireError("array")
    if not isinstance(shape, list) or len(shape) > MAX_DIMENSIONS:
        raise WireError("shape")
    for n in shape:
        if type(n) is not int or not 0 <= n <= _MAX_AXIS:
            raise WireError("shape")
    return library, dtype, shape, flags
