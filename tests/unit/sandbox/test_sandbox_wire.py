"""The wire format: what a right writer writes comes back, what a hostile one writes is refused."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.sandbox.child import wire
from engine.sandbox.child.wire import ArrayNode, FrameReader, StepNode, TreeReader, TreeWriter, WireFrame

LEAVES = st.tuples(st.sampled_from(sorted(wire.ITEM_SIZES)), st.lists(st.integers(0, 3), max_size=3)).flatmap(
    lambda spec: st.binary(
        min_size=wire.array_size(spec[0], tuple(spec[1])), max_size=wire.array_size(spec[0], tuple(spec[1]))
    ).map(lambda data: ArrayNode("numpy", spec[0], tuple(spec[1]), data, True, False))
)
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(2**200), 2**200)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
)
TREES = st.recursive(
    PLAIN | LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)


def _describe(value: Any, _limit: int) -> ArrayNode | StepNode:
    if isinstance(value, (ArrayNode, StepNode)):
        return value
    raise wire.UnsupportedError("object")


def _write(value: Any, max_bytes: int = 10**6) -> tuple[Any, bytes]:
    writer = TreeWriter(_describe, max_bytes)
    node = writer.node(value)
    return json.loads(json.dumps(node)), b"".join(writer.blobs)


def _read(node: Any, blob: bytes = b"") -> Any:
    reader = TreeReader(memoryview(blob), lambda n: n._replace(data=bytes(n.data)), lambda t: t)
    value = reader.value(node)
    reader.done()
    return value


def _same_types(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return all(_same_types(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)) and not isinstance(a, ArrayNode):
        return all(map(_same_types, a, b))
    return True


@given(TREES)
def test_a_tree_comes_back_with_its_types(tree: Any) -> None:
    node, blob = _write(tree)
    back = _read(node, blob)
    assert back == tree
    assert _same_types(back, tree)


def test_nan_infinity_and_negative_zero_come_back() -> None:
    back = _read(*_write([math.nan, math.inf, -math.inf, -0.0]))
    assert math.isnan(back[0])
    assert back[1:3] == [math.inf, -math.inf]
    assert math.copysign(1, back[3]) == -1


def test_a_lone_surrogate_is_replaced() -> None:
    assert _read(*_write("a\ud800b")) == "a?b"


def test_a_step_function_comes_back() -> None:
    tokens = ArrayNode("numpy", "int64", (0, 0), b"")
    table = StepNode("step", tokens, ArrayNode("torch", "float32", (1, 1), struct.pack("<f", 2.0)))
    assert _read(*_write(table)) == table


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ({1: 2}, wire.UnsupportedError),
        (object(), wire.UnsupportedError),
        (1j, wire.UnsupportedError),
        (10**2000, wire.TooLargeError),
        ("x" * (wire.MAX_STRING + 1), wire.TooLargeError),
        ([0] * wire.MAX_NODES, wire.TooLargeError),
        (ArrayNode("numpy", "float64", (0,) * 33, b""), wire.TooLargeError),
        (ArrayNode("numpy", "float64", (2,), b"short"), ValueError),
        (ArrayNode("numpy", "object", (1,), b"12345678"), wire.WireError),
    ],
)
def test_what_does_not_travel(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        _write(value)


def test_subclasses_of_plain_types_do_not_travel() -> None:
    class Sneaky(list):  # type: ignore[type-arg]
        pass

    class Number(float):
        pass

    for value in (Sneaky([1]), Number(1.0), True.__class__):
        with pytest.raises(wire.UnsupportedError):
            _write(value)


def test_depth_and_cycles_are_capped() -> None:
    deep: list[Any] = []
    for _ in range(wire.MAX_DEPTH + 1):
        deep = [deep]
    cycle: list[Any] = []
    cycle.append(cycle)
    for value in (deep, cycle):
        with pytest.raises(wire.TooLargeError):
            _write(value)


def test_shared_parts_are_counted_each_time() -> None:
    """A doubling chain is small in memory and 2**30 nodes as a tree."""
    value: list[Any] = []
    for _ in range(30):
        value = [value, value]
    with pytest.raises(wire.TooLargeError):
        _write(value)


def test_the_byte_cap_counts_leaves_and_text() -> None:
    leaf = ArrayNode("numpy", "uint8", (60,), bytes(60))
    _write([leaf, "x" * 40], max_bytes=100)
    with pytest.raises(wire.TooLargeError):
        _write([leaf, "x" * 41], max_bytes=100)


@pytest.mark.parametrize(
    "node",
    [
        [],
        {},
        {"a": 1},
        ["z"],
        [1, 2],
        [None],
        ["d", ["k"]],
        ["d", "kv"],
        ["d", [1, 2]],
        ["d", ["k", 1], ["k", 2]],
        ["a"],
        ["a", "numpy", "float64", [1], 3, 4],
        ["a", "pickle", "float64", [1], 3],
        ["a", ["numpy"], "float64", [1], 3],
        ["a", "numpy", "object", [1], 3],
        ["a", "numpy", ["float64"], [1], 3],
        ["a", "numpy", "float64", [-1], 3],
        ["a", "numpy", "float64", [True], 3],
        ["a", "numpy", "float64", [1.0], 3],
        ["a", "numpy", "float64", ["1"], 3],
        ["a", "numpy", "float64", 1, 3],
        ["a", "numpy", "float64", [2], 3],
        ["a", "numpy", "float64", [2**40, 2**40], 3],
        ["a", "numpy", "float64", [2**60], 3],
        ["a", "numpy", "float64", [0] * 33, 3],
        ["a", "numpy", "float64", [1], "3"],
        ["a", "numpy", "float64", [1], None],
        ["f", "name"],
        ["f", 1, []],
        ["f", "name", [[1]]],
        ["l", ["l", ["q"]]],
    ],
    ids=repr,
)
def test_malformed_nodes_are_refused(node: Any) -> None:
    with pytest.raises(wire.WireError):
        _read(node, bytes(8))


def test_two_leaves_cannot_claim_the_same_bytes() -> None:
    node = ["a", "numpy", "uint8", [6], 3]
    with pytest.raises(wire.WireError):
        _read(["l", node, node], bytes(8))


def test_left_over_bytes_are_refused() -> None:
    with pytest.raises(wire.WireError):
        _read(1, b"x")


@pytest.mark.parametrize("node", [["f", "name", [], []], ["m", "numpy", "uint8", [1], 3, 0]])
def test_a_child_cannot_send_what_only_plans_hold(node: Any) -> None:
    reader = TreeReader(memoryview(b"x"), lambda n: n)
    with pytest.raises(wire.WireError):
        reader.value(node)


def test_an_array_in_shared_memory_comes_as_its_place() -> None:
    placed = wire.PlacedNode("torch", "float32", (2, 3), 128, contiguous=False, writeable=True)
    writer = TreeWriter(lambda value, _: value, 0)
    node = json.loads(json.dumps(writer.node(placed)))
    assert writer.blobs == []
    assert TreeReader(memoryview(b""), lambda n: n, placed=lambda n: n).value(node) == placed
    for spoilt in (node[:-1], [*node[:-1], "128"], [*node, 1], ["m", "jax", *node[2:]]):
        with pytest.raises(wire.WireError):
            TreeReader(memoryview(b""), lambda n: n, placed=lambda n: n).value(spoilt)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3), lambda x: st.lists(x, max_size=5), max_leaves=30
    )
)
def test_any_json_gives_a_value_or_a_wire_error(node: Any) -> None:
    try:
        _read(node, bytes(16))
    except wire.WireError:
        return


@given(st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=50)), max_size=5), st.data())
def test_frames_survive_any_cut(messages: list[tuple[int, bytes]], data: st.DataObject) -> None:
    stream = b"".join(wire.pack(kind, {"n": len(blob)}, [blob]) for kind, blob in messages)
    reader = FrameReader(10**6)
    seen: list[WireFrame] = []
    while stream:
        cut = data.draw(st.integers(1, len(stream)))
        reader.feed(stream[:cut])
        seen += reader.frames()
        stream = stream[cut:]
    assert [(f.kind, bytes(f.blob)) for f in seen] == messages
    assert reader.pending == 0


def _header(magic: bytes = b"SMK1", n_json: int = 2, n_blob: int = 0) -> bytes:
    return struct.pack("<4sB3xIQ", magic, 1, n_json, n_blob)


@pytest.mark.parametrize(
    "stream",
    [
        _header(magic=b"EVIL") + b"{}",
        _header(n_json=wire.MAX_REPLY_JSON + 1),
        _header(n_blob=1001),
        _header(n_blob=2**63),
        _header() + b"{]",
        _header() + b"\xff\xff",
        _header(n_json=200_000) + b"[" * 200_000,
        _header(n_json=6000) + b"1" * 6000,
    ],
    ids=["magic", "json cap", "blob cap", "huge blob", "syntax", "bytes", "depth", "digits"],
)
def test_bad_frames_are_refused_without_waiting_for_their_end(stream: bytes) -> None:
    reader = FrameReader(1000)
    reader.feed(stream)
    with pytest.raises(wire.WireError):
        list(reader.frames())


def test_a_writer_keeps_to_the_json_cap() -> None:
    with pytest.raises(wire.TooLargeError):
        wire.pack(1, "x" * wire.MAX_REPLY_JSON)
    assert wire.pack(1, "x" * wire.MAX_REPLY_JSON, max_json=wire.MAX_PLAN_JSON)
