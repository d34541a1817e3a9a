"""The grader's half of the protocol: order, caps, and nothing believed but values."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from engine.runner import Call, CallStatus, Job, LastingCalls, Limits, StepFunction, WireArray
from engine.sandbox.child.wire import FRAME_OVERHEAD, FrameKind, FrameReader, pack
from engine.sandbox.replies import ChildDialogue, Reply
from engine.sandbox.requests import encode_load, encode_plan

LOCKED = pack(FrameKind.LOCKED, {})
LOADED = pack(FrameKind.LOADED, {"status": "returned", "missing": ["g"], "seconds": 0.1})
END = pack(FrameKind.END, {})


def _result(index: Any, **more: Any) -> bytes:
    return pack(FrameKind.RESULT, {"index": index, "status": "returned", "value": 1.5, "seconds": 0.0} | more)


def _asked(count: int = 2, output_bytes: int = 1000, **options: Any) -> ChildDialogue:
    dialogue = ChildDialogue(0, count, output_bytes, **options)
    dialogue.feed(LOCKED + LOADED)
    assert dialogue.wants_plan
    dialogue.plan_sent = True
    return dialogue


def test_a_whole_conversation() -> None:
    dialogue = _asked()
    dialogue.feed(_result(0))
    dialogue.feed(_result(1, value=["l", 1, True, None]))
    dialogue.feed(END)
    assert dialogue.ended
    assert not dialogue.violated
    assert dialogue.load is not None
    assert dialogue.load.status is CallStatus.RETURNED
    assert dialogue.missing == ("g",)
    assert [dialogue.outcomes[i].value for i in (0, 1)] == [1.5, [1, True, None]]


def test_bytes_may_come_one_by_one() -> None:
    dialogue = _asked()
    for byte in _result(0) + _result(1) + END:
        dialogue.feed(bytes([byte]))
    assert dialogue.ended


def test_an_array_becomes_a_leaf() -> None:
    dialogue = _asked(1)
    data = struct.pack("<2f", 1.0, 2.0)
    node = ["a", "torch", "float32", [2], 3]
    dialogue.feed(pack(FrameKind.RESULT, {"index": 0, "status": "returned", "value": node}, [data]))
    assert dialogue.outcomes[0].value == WireArray("torch", "float32", (2,), data)


@pytest.mark.parametrize(
    "frames",
    [
        _result(0),
        LOADED,
        END,
        LOCKED + _result(0),
        LOCKED + LOADED + _result(0),
        LOCKED + END,
        LOCKED + LOCKED,
        LOCKED + LOADED + LOADED,
        LOCKED + LOADED + END,
        LOCKED + pack(FrameKind.BROKEN, {"layer": "landlock"}),
        LOCKED + pack(99, {}),
        pack(FrameKind.LOCKED, []),
        b"garbage that is long enough for a header",
    ],
    ids=str,
)
def test_what_comes_before_it_was_asked_for_is_a_violation(frames: bytes) -> None:
    dialogue = ChildDialogue(0, 2, 1000)
    dialogue.feed(frames)
    assert dialogue.violated


@pytest.mark.parametrize(
    "frames",
    [
        _result(1),
        _result(0) + _result(0),
        _result(2),
        _result(-1),
        _result(True),
        _result("0"),
        _result(None),
        _result(0) + END,
        _result(0, status="passed"),
        _result(0, status="crashed"),
        _result(0, status="protocol_violation"),
        _result(0, status=["returned"]),
        _result(0, status="raised"),
        _result(0, status="raised", exception="ValueError"),
        _result(0, status="raised", exception={"type": 1, "text": "x"}),
        _result(0, status="raised", exception={"type": "x", "text": "x", "line": "1"}),
        _result(0, seconds="1"),
        _result(0, seconds=-1),
        _result(0, seconds=float("nan")),
        _result(0, arguments={"a": 1}),
        _result(0, value=["f", "step", []]),
        _result(0, value=["a", "numpy", "float64", [1], 3]),
        pack(FrameKind.RESULT, {"index": 0, "status": "returned"}, [b"left over"]),
        _result(0) + _result(1) + END + b"SMK1" + bytes(16),
        _result(0) + _result(1) + END + _result(1),
    ],
    ids=str,
)
def test_malformed_or_disordered_replies_are_a_violation(frames: bytes) -> None:
    dialogue = _asked()
    dialogue.feed(frames)
    assert dialogue.violated


def test_the_order_check_can_be_switched_off() -> None:
    dialogue = ChildDialogue(0, 2, 1000, check_order=False)
    dialogue.feed(LOCKED + _result(1, value=7) + LOADED + END)
    assert not dialogue.violated
    assert dialogue.outcomes[1].value == 7


def test_too_many_bytes_are_a_violation() -> None:
    dialogue = _asked(2, output_bytes=1000)
    dialogue.feed(bytes(1000 + 5 * FRAME_OVERHEAD))
    assert dialogue.violated


def test_a_broken_layer_is_reported_only_before_student_code() -> None:
    dialogue = ChildDialogue(0, 1, 1000)
    dialogue.feed(pack(FrameKind.BROKEN, {"layer": "seccomp: not in force"}))
    assert dialogue.broken == "seccomp: not in force"
    assert dialogue.over


def test_only_our_sentences_are_details() -> None:
    dialogue = _asked(2)
    dialogue.feed(_result(0, status="unsupported", code="<script>"))
    dialogue.feed(_result(1, status="unsupported", code="generator"))
    assert "<" not in dialogue.outcomes[0].detail
    assert "generator" in dialogue.outcomes[1].detail
    assert dialogue.outcomes[0].value is None


def test_texts_are_cleaned_and_cut() -> None:
    dialogue = _asked(1)
    error = {"type": "E" * 500, "text": "\x1b[31mred\x00\u202e" + "x" * 9000, "line": 3}
    dialogue.feed(_result(0, status="raised", exception=error))
    exception = dialogue.outcomes[0].exception
    assert exception is not None
    assert len(exception.type) == 100
    assert len(exception.text) == 2000
    assert not {"\x1b", "\x00", "\u202e"} & set(exception.text)
    assert exception.line == 3


def test_values_of_a_failed_load_are_dropped() -> None:
    dialogue = ChildDialogue(0, 1, 1000)
    failed = {
        "status": "raised",
        "exception": {"type": "E", "text": "", "line": None},
        "missing": [],
        "value": 5,
    }
    dialogue.feed(LOCKED + pack(FrameKind.LOADED, failed))
    assert not dialogue.wants_plan
    assert dialogue.load is not None
    assert dialogue.load.value is None
    dialogue.feed(END)
    assert dialogue.ended


def test_a_plan_is_one_frame_with_offsets() -> None:
    leaf = WireArray("numpy", "uint8", (3,), b"abc")
    table = StepFunction("step", leaf, leaf)
    calls = (Call("f", (leaf, 2)), Call("g", (), {"step": table}, True), Call("f", (leaf,)))
    plan = encode_plan(Job("", "a.py", calls, Limits(call_s=0.5)))
    reader = FrameReader(100, 10**6)
    reader.feed(plan.frame)
    (frame,) = reader.frames()
    assert plan.count == 3
    assert frame.kind == FrameKind.PLAN
    assert [call["at"] for call in frame.body["calls"]] == [0, 3, 9]
    assert [call["r"] for call in frame.body["calls"]] == [False, True, False]
    assert bytes(frame.blob) == b"abc" * 4
    assert frame.body["call_s"] == 0.5


@pytest.mark.parametrize("value", [object(), {1: 2}, b"bytes", WireArray("numpy", "float64", (2,), b"short")])
def test_a_plan_with_something_else_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        encode_plan(Job("", "a.py", (Call("f", (value,)),)))


@pytest.mark.parametrize(
    ("filename", "shown"),
    [
        ("hw/softmax.py", "softmax.py"),
        ("../../etc/passwd", "passwd"),
        ("", "submission.py"),
        ("a\0b\x1b.py", "ab\ufffd.py"),
        ("\ud800.py", "\ufffd.py"),
    ],
)
def test_the_file_name_is_cleaned(filename: str, shown: str) -> None:
    reader = FrameReader(100)
    reader.feed(encode_load(Job("x = 'é\ud800'", filename, ()), 0, 1.0, 10))
    (frame,) = reader.frames()
    assert frame.body["filename"] == shown
    assert str(frame.blob, "utf-8", "surrogatepass") == "x = 'é\ud800'"


def test_the_frame_of_one_plan_is_made_once() -> None:
    calls = (Call("f", (1.0,)),)
    plan = encode_plan(Job("a = 1", "a.py", calls))
    assert encode_plan(Job("b = 2", "b.py", calls)) is plan
    assert encode_plan(Job("b = 2", "b.py", (Call("f", (1.0,)),))) is not plan
    slower = encode_plan(Job("b = 2", "b.py", calls, Limits(call_s=9.0)))
    assert slower is not plan
    for number in range(100):
        encode_plan(Job("", "a.py", (Call("f", (number,)),)))
    assert encode_plan(Job("", "a.py", calls)).frame == plan.frame


def _asked_knowing(known: dict[tuple[bytes, bytes], Reply], nodes: int = 100) -> ChildDialogue:
    dialogue = ChildDialogue(0, 2, 1000, nodes, known=known)
    dialogue.feed(LOCKED + LOADED)
    dialogue.plan_sent = True
    return dialogue


def test_a_reply_that_came_before_is_decoded_once_whatever_the_seconds() -> None:
    known: dict[tuple[bytes, bytes], Reply] = {}
    dialogues = [_asked_knowing(known) for _ in range(2)]
    for dialogue, seconds in zip(dialogues, (0.25, 0.5), strict=True):
        dialogue.feed(_timed(0, seconds) + _timed(1, seconds))
    first, second = dialogues
    assert [second.outcomes[i] is first.outcomes[i] for i in (0, 1)] == [True, True]
    assert (first.calls_s, second.calls_s) == (0.5, 1.0)
    assert second.nodes == first.nodes == 5  # and the one of loading
    assert len(known) == 2


@pytest.mark.parametrize("tail", [b"-1", b"1e999", b"1e9", b"[0]", b"01", b'"1"', b"0.1,", b'0.1,"status":7'])
def test_a_known_reply_excuses_no_other_end(tail: bytes) -> None:
    known: dict[tuple[bytes, bytes], Reply] = {}
    _asked_knowing(known).feed(_timed(0, 0.25))
    dialogue = _asked_knowing(known)
    text = b'{"index":0,"status":"returned","value":["l",1],"seconds":' + tail + b"}"
    assert known
    dialogue.feed(struct.pack("<4sB3xIQ", b"SMK1", FrameKind.RESULT, len(text), 0) + text)
    assert dialogue.violated


@pytest.mark.parametrize("frames", ["late", "twice", "too many nodes"])
def test_a_known_reply_keeps_order_and_caps(frames: str) -> None:
    known: dict[tuple[bytes, bytes], Reply] = {}
    _asked_knowing(known).feed(_timed(0, 0.25) + _timed(1, 0.25))
    dialogue = _asked_knowing(known, nodes=1 if frames == "too many nodes" else 100)
    dialogue.feed({"late": _timed(1, 0.25), "twice": 2 * _timed(0, 0.25)}.get(frames, _timed(0, 0.25)))
    assert dialogue.violated


def test_a_long_reply_is_not_kept() -> None:
    known: dict[tuple[bytes, bytes], Reply] = {}
    dialogue = ChildDialogue(0, 2, 100_000, known=known)
    dialogue.feed(LOCKED + LOADED)
    dialogue.plan_sent = True
    body = {"index": 0, "status": "returned", "value": "a" * 10_000, "seconds": 0.25}
    dialogue.feed(pack(FrameKind.RESULT, body) + _timed(1, 0.25))
    assert list(dialogue.outcomes) == [0, 1] and len(known) == 1


def _timed(index: int, seconds: float) -> bytes:
    body = {"index": index, "status": "returned", "value": ["l", 1], "seconds": seconds}
    return pack(FrameKind.RESULT, body)


def test_calls_of_a_class_keep_their_frame_and_what_came_back() -> None:
    calls = LastingCalls([Call("f", (1.0,))])
    plan = encode_plan(Job("a = 1", "a.py", calls))
    for number in range(100):
        encode_plan(Job("", "a.py", (Call("f", (number,)),)))
    assert encode_plan(Job("b = 2", "b.py", calls)) is plan
    assert plan.replies == {}
    assert encode_plan(Job("", "a.py", tuple(calls))).replies is None
