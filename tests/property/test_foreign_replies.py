"""Whatever a child can put on the wire is a verdict of that submission: never an error of ours, never a hang.

Valid replies of a right program are mutated with their structure in mind, then read, judged and explained as
those of a student are. Where student code has taken over the harness, this is all that it can do.
"""

from __future__ import annotations

import json
import math
import random
import struct
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.code import CodeExercise, freeze_plan, load_exercise
from engine.code.explain import counterexample
from engine.code.explain.counterexample import LruCache, _varied
from engine.code.explain.in_process import TrustedRunner
from engine.code.plan import InputPlan
from engine.code.properties import property_of
from engine.code.result_kinds import ArrayResult, HypothesesResult, NumberResult, TokensResult, TupleResult
from engine.grading import grade_code
from engine.items import load_spec
from engine.model import CodeSubmission, GradeReport, Mode, Outcome, Verdict
from engine.runner import CallOutcome, CallStatus, Job, RunResult, WireArray
from engine.sandbox.child.wire import (
    ITEM_SIZES,
    MAX_JOB_NODES,
    MAX_REPLY_JSON,
    MAX_REPLY_NODES,
    FrameKind,
    TreeWriter,
    pack,
)
from engine.sandbox.replies import VIOLATION, ChildDialogue, JobResults
from engine.sandbox.requests import describe
from tests.timing import cpu_seconds

CODE = Path(__file__).parents[2] / "problems" / "code"
LONGEST_REPORT = 40_000
# Of this thread's processor time, explanation included: honest files take a tenth of it.  The first of an
# exercise that fails also computes what every known mistake gives, once for all that follow.
JUDGING_S = 8.0
FIRST_S = 60.0

LOCKED = pack(FrameKind.LOCKED, {})
LOADED = (FrameKind.LOADED, {"status": "returned", "missing": [], "seconds": 0.0}, b"")
END = (FrameKind.END, {}, b"")
Frame = tuple[int, Any, bytes]
# An exercise of every kind of result. To find them takes the plans of all exercises, so no import does it.
ITEMS = (
    "additive-scores",
    "alignment-error-rate",
    "beam-search",
    "cross-entropy",
    "decoder-step",
    "greedy-decode",
    "kv-cache",
)


@cache
def exercise_of(item: str) -> CodeExercise:
    path = next(CODE.glob(f"{item}/*.yaml"))
    return load_exercise(load_spec(path), path.parent, "version")


@cache
def plan_of(item: str) -> InputPlan:
    return freeze_plan(exercise_of(item), b"foreign")


def kind_of(item: str) -> tuple[type, int]:
    expected = next(case.expected for case in plan_of(item).cases if case.expected is not None)
    return type(expected.result), len(expected.parts)


@cache
def valid_frames(item: str, solution: str) -> tuple[Frame, ...]:
    """Return the replies of one of our own solutions, as the child would frame them."""
    exercise, plan = exercise_of(item), plan_of(item)
    source = exercise.solutions[solution]
    library = "torch" if "import torch" in source else "numpy"
    job = Job(source, "f.py", plan.calls(exercise.function, library), functions=(exercise.function,))
    frames: list[Frame] = []
    for index, outcome in enumerate(TrustedRunner().run(job).outcomes):
        writer = TreeWriter(describe, 2**24)
        body: dict[str, Any] = {"index": index, "status": str(outcome.status), "seconds": 0.0}
        if outcome.status is CallStatus.RETURNED:
            body["value"] = writer.node(outcome.value)
            if outcome.arguments is not None:
                sent = [None if not _travels(value) else value for value in outcome.arguments]
                body["arguments"] = [writer.node(value) for value in sent]
            if outcome.gradients is not None:
                body["gradients"] = [writer.node(value) for value in outcome.gradients]
        elif outcome.exception is not None:
            told = outcome.exception
            body["exception"] = {"type": told.type, "text": told.text, "line": told.line, "file": ""}
        frames.append((FrameKind.RESULT, body, b"".join(writer.blobs)))
    return tuple(frames)


def _travels(value: Any) -> bool:
    return isinstance(value, WireArray | int | float | str | tuple | list | dict | None)


def framed(frame: Frame, text: bytes | None = None) -> bytes:
    """Return a frame without any of the writer's own checks."""
    kind, body, blob = frame
    text = json.dumps(body).encode() if text is None else text
    return struct.pack("<4sB3xIQ", b"SMK1", kind, len(text), len(blob)) + text + blob


class Replays:
    """A runner behind which a child says what it was told to say."""

    tier = "T1"

    def __init__(self, early: bytes, late: bytes, piece: int = 2**20) -> None:
        self._early, self._late, self._piece = early, late, piece

    def run(self, job: Job) -> RunResult:
        results = JobResults(job, self.tier)
        while (first := results.next_call(1.0)) is not None:
            left, nodes = results.bytes_left, results.nodes_left
            dialogue = ChildDialogue(first, len(job.calls), left, nodes)
            self._feed(dialogue, LOCKED + self._early)
            if dialogue.wants_plan:
                dialogue.plan_sent = True
                self._feed(dialogue, self._late)
            assert (dialogue.broken is None and dialogue.locked) or dialogue.violated
            if dialogue.violated:
                results.violate(CallOutcome(CallStatus.PROTOCOL_VIOLATION, detail=VIOLATION))
            else:
                end = None if dialogue.ended else CallOutcome(CallStatus.CRASHED, detail="It crashed.")
                results.merge(dialogue, end)
        return results.finish(b"")

    def _feed(self, dialogue: ChildDialogue, data: bytes) -> None:
        for at in range(0, len(data), self._piece):
            if dialogue.over:
                return
            dialogue.feed(data[at : at + self._piece])

    def close(self) -> None:
        return

    def __enter__(self) -> Replays:
        return self

    def __exit__(self, *_: object) -> None:
        return


def grade(item: str, runner: Any, source: str | None = None) -> GradeReport:
    """Grade; hold what holds for every hand-in: a verdict, in little time, in few words."""
    exercise = exercise_of(item)
    submission = CodeSubmission(source or next(iter(exercise.solutions.values())), "f.py", "0" * 64)
    for most_s in (FIRST_S, JUDGING_S):
        begun = time.thread_time()
        report = grade_code(exercise, plan_of(item), submission, runner, mode=Mode.MARKS, student="s")
        taken_s = time.thread_time() - begun
        assert taken_s < most_s
        if taken_s < JUDGING_S:
            break
    assert report.outcome is not Outcome.UNGRADED, report.notes
    assert report.score is not None
    assert not any("No known mistake" in note for note in report.notes), report.notes
    text = json.dumps(report.as_json(), ensure_ascii=False).encode()  # fails for lone surrogates
    assert len(text) < LONGEST_REPORT
    return report


# --- the fuzzer ---------------------------------------------------------------------------------

_SCALARS = (
    None, True, -1, 0, 1, 2**53, 2**63, -(2**400), 10**4200, 0.5, -0.0, float("nan"), float("inf"), 1e308,
    "", "l", "a", "returned", "raised", "x" * 5000, "\ud800", "\x00\x1b[31m\u202e",
)  # fmt: skip
_SHAPES = (
    [],
    [0],
    [1],
    [0, 2**48, 2**48],
    [2**48],
    [-1],
    [2, 3],
    [1] * 33,
    [0] * 70,
    [2**62, 4],
    ["3"],
    [3.0],
)
_DTYPES = (*ITEM_SIZES, "object", "float128", "U8", "", None, 7)
_GRAFTS: tuple[Callable[[random.Random], Any], ...] = (
    lambda r: r.choice(_SCALARS),
    lambda r: ["l", *[r.choice(_SCALARS) for _ in range(r.randrange(6))]],
    lambda r: ["t", ["l", 1, 2], -0.5],
    lambda r: ["l", *[["t", ["l", *range(r.randrange(60))], -float(n)] for n in range(r.randrange(60))]],
    lambda r: ["l"] + [1] * r.choice((10, 1000, MAX_REPLY_NODES, 2 * MAX_REPLY_NODES)),
    lambda r: ["d", ["k", 1], ["k", 2]],
    lambda r: ["d", ["\ud800", 1]],
    lambda r: ["a", r.choice(("numpy", "torch", "jax", 3)), r.choice(_DTYPES), r.choice(_SHAPES), 3],
    lambda r: ["f", "step", ["l"], ["l"]],
    lambda r: ["m", "numpy", r.choice(_DTYPES), r.choice(_SHAPES), 3, r.choice((0, -64, 2**62))],
    lambda r: _nested(r.choice((5, 31, 32, 33, 900, 100_000))),
    lambda r: {"type": "E", "text": "t", "line": 10**30, "file": "x"},
    lambda r: [],
)


def _nested(depth: int) -> Any:
    node: Any = 1
    for _ in range(min(depth, 900)):
        node = ["l", node]
    return node


def _places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths to all parts of a body."""
    if path:
        yield path
    keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in list(keys):
        yield from _places(node[key], (*path, key))


def _with(node: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    copy = dict(node) if isinstance(node, dict) else list(node)
    copy[path[0]] = _with(copy[path[0]], path[1:], value)
    return copy


def _mutate_body(frame: Frame, r: random.Random) -> Frame:
    kind, body, blob = frame
    if not isinstance(body, dict):
        return frame
    action = r.randrange(7)
    if action == 0:
        body = body | {r.choice(("value", "arguments", "gradients", "exception")): r.choice(_GRAFTS)(r)}
    elif action == 1:
        body = body | {r.choice(("index", "status", "seconds", "code", "missing")): r.choice(_SCALARS)}
    elif action == 2:
        body = {key: value for key, value in body.items() if key != r.choice(list(body or {"": 0}))}
    else:
        places = list(_places(body))
        if places:
            arrays = [p for p in places if _at(body, p)[:1] == ["a"]]
            if arrays and action < 6:
                path = r.choice(arrays)
                field, value = r.choice(
                    ((2, r.choice(_DTYPES)), (3, r.choice(_SHAPES)), (4, r.choice(_SCALARS)))
                )
                body = _with(body, (*path, field), value)
            else:
                body = _with(body, r.choice(places), r.choice(_GRAFTS)(r))
    return kind, body, blob


def _at(node: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        node = node[key]
    return node if isinstance(node, list) else []


def _mutate_blob(frame: Frame, r: random.Random) -> Frame:
    kind, body, blob = frame
    how = r.randrange(4)
    if how == 0:
        blob = blob[: r.randrange(len(blob) + 1)]
    elif how == 1:
        blob += bytes(r.randrange(1, 5000))
    elif how == 2:  # NaN, infinities, subnormal numbers of every width
        blob = (b"\xff\xff\xff\xff\xff\xff\xf0\x7f" * (len(blob) // 8 + 1))[: len(blob)]
    else:
        blob = bytes(r.randrange(256) for _ in blob[:4000]) + blob[4000:]
    return kind, body, blob


def _mutate_order(frames: list[Frame], r: random.Random) -> list[Frame]:
    at, other = r.randrange(len(frames)), r.randrange(len(frames))
    how = r.randrange(5)
    if how == 0:
        del frames[at]
    elif how == 1:
        frames.insert(at, frames[other])
    elif how == 2:
        frames[at], frames[other] = frames[other], frames[at]
    elif how == 3:
        _, body, blob = frames[at]
        frames[at] = (r.choice((0, 1, 2, 16, 17, 19, 20, 21, 99)), body, blob)
    else:
        del frames[at:]
    return frames


def _broken(data: bytes, r: random.Random) -> bytes:
    how = r.randrange(5)
    if how == 0:
        return data[: r.randrange(len(data) + 1)]
    if how == 1:
        at = r.randrange(len(data) or 1)
        return data[:at] + bytes([r.randrange(256)]) + data[at + 1 :]
    if how == 2:
        return data + bytes(r.randrange(1, 64))
    if how == 3:
        return data.replace(b'"status"', b'"status": "returned", "status"', 1)
    return data.replace(b'"seconds"', b'"\xff\xfe"', 1)


@pytest.fixture(scope="module", autouse=True)
def prepared() -> Iterator[None]:
    """Plans are drawn by hypothesis too, so they're made before a test of it begins."""
    for item in ITEMS:
        _varied(exercise_of(item).inputs)
        exercise_of(item).inputs.candidates()
        for solution in exercise_of(item).solutions:
            valid_frames(item, solution)
    with pytest.MonkeyPatch.context() as patch:
        # a child that is played back answers the plan's calls, none on what showed a mistake in another test
        patch.setattr(counterexample, "_telling_inputs", LruCache(1))
        patch.setattr(counterexample, "_MOST_SENT", 0)
        yield


def test_every_kind_of_result_is_fuzzed() -> None:
    kinds = {
        type(case.expected.result)
        for item in ITEMS
        for case in plan_of(item).cases
        if case.expected is not None
    }
    assert kinds == {ArrayResult, NumberResult, TupleResult, TokensResult, HypothesesResult}
    of_all = {kind_of(path.parent.name) for path in CODE.glob("*/*.yaml")}
    assert {kind_of(item) for item in ITEMS} == of_all


@pytest.mark.parametrize("item", ITEMS)
def test_untouched_replies_of_a_right_program_get_full_marks(item: str) -> None:
    for solution, source in exercise_of(item).solutions.items():
        frames = [*valid_frames(item, solution), END]
        runner = Replays(framed(LOADED), b"".join(map(framed, frames)), piece=777)
        assert grade(item, runner, source).outcome is Outcome.RIGHT


@settings(max_examples=150)
@given(item=st.sampled_from(ITEMS), seed=st.integers(0, 2**32))
def test_mutated_replies_are_verdicts(item: str, seed: int) -> None:
    r = random.Random(seed)
    solution = r.choice(list(exercise_of(item).solutions))
    frames = [LOADED, *valid_frames(item, solution), END]
    for _ in range(r.choice((1, 1, 2, 5, 30))):
        if not frames:  # all cut off: a child that says nothing is one of them
            break
        at = r.randrange(len(frames))
        choice = r.randrange(10)
        if choice < 6:
            frames[at] = _mutate_body(frames[at], r)
        elif choice < 8:
            frames[at] = _mutate_blob(frames[at], r)
        elif len(frames) > 2:
            frames = _mutate_order(frames, r)
    early = r.choice((1, 1, 1, 1, 1, 2))  # now and then replies come before the plan
    parts = list(map(framed, frames))
    if parts and r.random() < 0.3:
        at = r.randrange(len(parts))
        parts[at] = _broken(parts[at], r)
    runner = Replays(b"".join(parts[:early]), b"".join(parts[early:]), r.choice((2**20, 2**20, 4096)))
    grade(item, runner, exercise_of(item).solutions[solution])


@settings(max_examples=100)
@given(item=st.sampled_from(ITEMS), seed=st.integers(0, 2**32))
def test_the_same_foreign_value_everywhere_is_a_verdict(item: str, seed: int) -> None:
    r = random.Random(seed)
    graft = r.choice(_GRAFTS)(r)
    frames: list[Frame] = []
    for kind, body, _ in valid_frames(item, next(iter(exercise_of(item).solutions))):
        frames.append((kind, {"index": body["index"], "status": "returned", "value": graft}, b""))
    grade(item, Replays(framed(LOADED), b"".join(map(framed, [*frames, END]))))


# --- known ones ---------------------------------------------------------------------------------


def everywhere(item: str, value: Any, blob: bytes = b"", **more: Any) -> Replays:
    """Return a runner whose child answers every call of an item with one value.

    Of its arguments it says nothing but how many there are: without that a reply is no reply.
    """
    frames = valid_frames(item, next(iter(exercise_of(item).solutions)))
    replies = []
    for _, body, _ in frames:
        answer = {"index": body["index"], "status": "returned", "value": value}
        if "arguments" in body:
            answer["arguments"] = [None] * len(body["arguments"])
        replies.append((FrameKind.RESULT, answer | more, blob))
    return Replays(framed(LOADED), b"".join(map(framed, [*replies, END])))


_TALL = ["a", "numpy", "int8", [400_000], 3]
_GIANTS = {
    "24,000 tokens": ("greedy-decode", ["l", *[0] * 15_000], b""),
    "200,000 tokens in an array": ("greedy-decode", ["a", "numpy", "int8", [200_000], 3], bytes(200_000)),
    "a long hypothesis": ("beam-search", ["l", ["t", ["l", *[1] * 15_000], -1.0]], b""),
    "an array among hypotheses": (
        "beam-search",
        ["l", ["t", _TALL, 0.0], *[["t", ["l", 1], -1.0]] * 300],
        bytes(400_000),
    ),
    "many hypotheses": ("beam-search", ["l", *[["t", ["l", 1], -1.0]] * 3000], b""),
    "an array of bytes": ("softmax", ["a", "numpy", "int8", [1000, 400], 3], bytes(400_000)),
    "no entries, huge axes": ("softmax", ["a", "numpy", "float64", [0, 2**48, 2**48], 3], b""),
}


@pytest.mark.parametrize("name", _GIANTS)
def test_giants_are_refused_before_they_are_decoded(name: str) -> None:
    item, value, blob = _GIANTS[name]
    exercise_of(item), plan_of(item)
    grade(item, everywhere(item, value, blob))  # what is kept for later hand-ins isn't this one's
    tracemalloc.start()
    try:
        report = grade(item, everywhere(item, value, blob))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert report.outcome is Outcome.WRONG
    assert peak < 100 * 2**20
    assert all(len(check.message) < 1000 for check in report.checks)
    assert report.counterexample is None or len(report.counterexample.got) < 1500


def test_a_forged_gradient_is_no_gradient() -> None:
    item = "softmax"
    frames = []
    for kind, body, blob in valid_frames(item, "solution_torch.py"):
        if body.get("gradients"):
            body = body | {"gradients": [["a", "torch", "float64", [0, 2**48, 2**48, 2**48], 3]]}
            nodes = [body["value"], *body.get("arguments", [])]  # their bytes come before the gradients'
            arrays = [node for node in nodes if isinstance(node, list) and node[0] == "a"]
            blob = blob[: sum(ITEM_SIZES[node[2]] * math.prod(node[3]) for node in arrays)]
        frames.append((kind, body, blob))
    runner = Replays(framed(LOADED), b"".join(map(framed, [*frames, END])))
    report = grade(item, runner, exercise_of(item).solutions["solution_torch.py"])
    failed = {check.id for check in report.checks if check.verdict is not Verdict.PASSED}
    assert failed == {"grad"}


def test_a_search_that_goes_on_too_long_is_told_how_long() -> None:
    report = grade("greedy-decode", everywhere("greedy-decode", ["l", *[0] * 500]))
    failed = [check.message for check in report.checks if check.verdict is Verdict.FAILED]
    assert failed
    assert [m for m in failed if "gave back 500 tokens, expected at most" not in m] == []


def _raising(group: Any, seen: Any) -> str | None:
    seen.returned(group.members[0])
    raise MemoryError("no message of ours")


@pytest.mark.parametrize(("source", "outcome"), [("right", Outcome.UNGRADED), ("wrong", Outcome.PARTIAL)])
def test_a_judgement_that_fails_is_ours_only_over_right_values(
    source: str, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise = exercise_of("softmax")
    (place,) = [at for at, check in enumerate(exercise.checks) if check.id == "shift"]
    checks = list(exercise.checks)
    checks[place] = replace(checks[place], property=replace(property_of("shift"), judge=_raising))
    program = exercise.solutions["solution_numpy.py"]
    if source == "wrong":
        program += "\n_right = softmax\ndef softmax(x, axis=-1):\n    return _right(x, axis) * 0.5\n"
    report = grade_code(
        replace(exercise, checks=tuple(checks)),
        plan_of("softmax"),
        CodeSubmission(program, "f.py", "0" * 64),
        TrustedRunner(),
        mode=Mode.MARKS,
        student="s",
    )
    assert report.outcome in (outcome, Outcome.WRONG if source == "wrong" else outcome)
    assert report.score is None or report.score < report.max_score


def test_replies_that_are_costly_to_read_stop_at_a_cap() -> None:
    bushes = [
        framed((FrameKind.RESULT, {"index": i, "status": "returned", "value": ["l", *[["l"]] * 15_000]}, b""))
        for i in range(40)
    ]

    def read() -> None:
        dialogue = ChildDialogue(0, 40, 2**24, MAX_JOB_NODES)
        dialogue.feed(LOCKED + framed(LOADED))
        dialogue.plan_sent = True
        for bush in bushes:
            dialogue.feed(bush)
        assert dialogue.violated

    # Reading all of them took 5 to 10 s.  Most of what is left is collecting the garbage of a large process.
    assert cpu_seconds(read, 4.5) < 4.5
    thicket = b"[" + b"[]," * (MAX_REPLY_JSON // 4) + b"[]]"
    dialogue = ChildDialogue(0, 1, 2**24)
    dialogue.feed(LOCKED + framed((FrameKind.LOADED, {}, b""), thicket))
    assert dialogue.violated
