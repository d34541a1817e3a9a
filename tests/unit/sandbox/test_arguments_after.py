"""What is known of arguments after a call: what the grader sees at T1 and T2, and what the child says."""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from dataclasses import replace

import pytest

from engine.runner import Call, CallOutcome, CallStatus, Job, Limits, Runner, WireArray
from engine.sandbox import SandboxOptions, open_runner
from engine.sandbox.requests import encode_plan
from engine.sandbox.tiers import missing_layers
from tests.sandbox.argument_covers import COVERS, PREAMBLE

_PATIENT = Limits(wall_s=60.0, call_s=30.0)
_WALLED = [
    pytest.param(tier, marks=pytest.mark.skipif(bool(missing_layers(tier)), reason=f"{tier} isn't possible"))
    for tier in ("T1", "T2")
]


@pytest.fixture(scope="module", params=_WALLED)
def walled(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """A runner of each tier that gives marks."""
    with open_runner(SandboxOptions(tier=request.param)) as opened:
        yield opened


def leaf(*numbers: float, library: str = "numpy") -> WireArray:
    return WireArray(library, "float64", (len(numbers),), struct.pack(f"<{len(numbers)}d", *numbers))


def outcomes(runner: Runner, source: str, *calls: Call, **more: object) -> tuple[CallOutcome, ...]:
    return runner.run(Job(source, "f.py", calls, _PATIENT, **more)).outcomes  # type: ignore[arg-type]


# --- what the child says ------------------------------------------------------------------

_RESTORES = """
import sys

def softmax(x):
    kept = x.copy()
    x[:] = -7.0
    frame = sys._getframe()
    while frame is not None:
        for thing in list(frame.f_locals.values()):
            if type(thing) is list and any(entry is x for entry in thing):
                thing[[entry is x for entry in thing].index(True)] = kept
        frame = frame.f_back
    return kept

def record(p):
    p["W"][:] = -7.0
    p["W"] = p["W"] + 8.0
    return p["W"].copy()
"""


def test_an_overwritten_argument_cant_be_exchanged_for_a_copy() -> None:
    """The harness holds the objects that it passed, not the list in which it passed them."""
    ones = leaf(1.0, 1.0, 1.0)
    calls = (
        Call("softmax", (ones,), return_arguments=True),
        Call("record", ({"W": ones},), return_arguments=True),
    )
    with open_runner(SandboxOptions(tier="T3", unsafe_local=True)) as runner:
        listed, record = outcomes(runner, _RESTORES, *calls)
    assert listed.value.data == ones.data
    assert listed.arguments == (leaf(-7.0, -7.0, -7.0),)
    assert record.value.data == ones.data
    assert record.arguments == (None,)


_KEEPS = """
import numpy as np

kept = np.zeros(3)

def fresh(x):
    return x * 2.0

def again(x):
    kept[:] = x
    return kept[::-1]

def listed(x, found=[]):
    return found
"""


def test_memory_and_lists_that_come_twice_are_told_and_left_as_they_are() -> None:
    """A program's own array holds after the call what it held before it, so later calls can be right."""
    ones = leaf(1.0, 2.0, 3.0)
    names = ("fresh", "fresh", "again", "again", "listed", "listed")
    calls = tuple(Call(name, (ones,), return_arguments=True, overwrite_result=True) for name in names)
    with open_runner(SandboxOptions(tier="T3", unsafe_local=True)) as runner:
        results = outcomes(runner, _KEEPS, *calls)
    assert [outcome.reused for outcome in results] == [False, False, False, True, False, True]
    assert not any(outcome.shared for outcome in results)
    assert results[3].value == leaf(3.0, 2.0, 1.0)


# --- what the grader sees -----------------------------------------------------------------

_OVERWRITES = """
def softmax(x):
    y, kept = x * 2, copied(x)
    x[...] = -7.0
    cover(x, kept)
    return y
"""


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("cover", COVERS.values(), ids=list(COVERS))
def test_an_overwritten_argument_is_seen_whatever_the_child_says(
    walled: Runner, cover: str, library: str
) -> None:
    """The memory itself is compared, by the grader: no object of the child's has a say in it."""
    x = leaf(1.0, 2.0, 3.0, library=library)
    views = [x, replace(x, contiguous=False)]
    calls = [Call("softmax", (view,), return_arguments=True, overwrite_result=True) for view in views]
    results = outcomes(walled, PREAMBLE + _OVERWRITES + cover, *calls)
    assert [outcome.status for outcome in results] == [CallStatus.RETURNED] * 2, results
    assert [outcome.value for outcome in results] == [leaf(2.0, 4.0, 6.0, library=library)] * 2
    assert results[1].arguments == (leaf(-7.0, -7.0, -7.0, library=library),)
    if "before[:]" not in cover:
        assert results[0].arguments == results[1].arguments


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_these_programs_do_deceive_a_grader_that_believes_the_child(library: str) -> None:
    """Where nothing is shared (T3), each cover holds: so the test above tries what it says."""
    x = leaf(1.0, 2.0, 3.0, library=library)
    call = Call("softmax", (x,), return_arguments=True)
    with open_runner(SandboxOptions(tier="T3", unsafe_local=True)) as runner:
        for name, cover in COVERS.items():
            (outcome,) = outcomes(runner, PREAMBLE + _OVERWRITES + cover, call)
            assert outcome.arguments == (x,), (name, outcome)


def test_a_reply_that_leaves_the_arguments_out_is_no_reply(walled: Runner) -> None:
    cover = """
def cover(x, kept):
    packing = above("_make_calls").f_globals
    plain = packing["pack"]
    def pack(kind, body, blobs=()):
        told = body.pop("arguments", None)
        return plain(kind, body, blobs if told is None else blobs[:1])
    packing["pack"] = pack
"""
    call = Call("softmax", (leaf(1.0),), return_arguments=True)
    (outcome,) = outcomes(walled, PREAMBLE + _OVERWRITES + cover, call)
    assert outcome.status is CallStatus.PROTOCOL_VIOLATION


_HONEST = """
import torch
import numpy as np

mine = []

def restores(x):
    kept = x + 0.0
    x *= 2
    y = x + 0.0
    x[...] = kept
    return y

def view(x):
    return x[::-1] if isinstance(x, np.ndarray) else x[1:]

def returns(x):
    return x

def keeps(x):
    mine.append(x)
    return x * 2

def writes_to_kept(x):
    mine[0][...] = 5.0
    return x * 2

def returns_kept(x):
    return mine[0]

def shape(x):
    x.shape = (1, 3)
    return x * 2

def turned(x):
    return x.t_() * 2

def record(p, n, q):
    p["W"] += n
    return q * 1.0
"""


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_what_right_programs_do_leaves_the_arguments_as_they_were(walled: Runner, library: str) -> None:
    """What is back before the reply counts as unchanged; writing into a view of the result is undone."""
    x = leaf(1.0, 2.0, 3.0, library=library)
    names = ("restores", "view", "returns", "keeps", "returns_kept")
    calls = [Call(name, (x,), return_arguments=True, overwrite_result=True) for name in names]
    results = outcomes(walled, _HONEST, *calls)
    assert [outcome.arguments for outcome in results] == [(x,)] * 5
    assert [outcome.shared for outcome in results] == [False, True, True, False, False]


def test_an_argument_of_an_earlier_call_is_looked_at_again(walled: Runner) -> None:
    x = leaf(1.0, 2.0, 3.0)
    calls = [Call(name, (x,), return_arguments=True) for name in ("keeps", "writes_to_kept")]
    first, second = outcomes(walled, _HONEST, *calls)
    assert first.arguments == (leaf(5.0, 5.0, 5.0),)
    assert second.arguments == (x,)


def test_form_and_entries_of_arguments_are_told_beside_the_bytes(walled: Runner) -> None:
    """Another shape and another entry of a record are objects of the child's, so those are its word."""
    x = leaf(1.0, 2.0, 3.0)
    turned = WireArray("torch", "float64", (3, 1), x.data)
    calls = [
        Call("shape", (x,), return_arguments=True),
        Call("turned", (turned,), return_arguments=True),
        Call("record", ({"W": x, "b": x}, 2, x), return_arguments=True),
    ]
    shape, turn, record = outcomes(walled, _HONEST, *calls)
    assert shape.arguments == (replace(x, shape=(1, 3)),)
    assert turn.arguments == (replace(turned, shape=(1, 3)),)
    assert record.arguments == ({"W": leaf(3.0, 4.0, 5.0), "b": x}, 2, x)


def test_a_new_process_gets_memory_of_its_own(walled: Runner) -> None:
    """After a crash the file is loaded again: nothing of the first process is in the second's memory."""
    source = """
import os
def f(x, what):
    if what:
        x[...] = what
        os._exit(3)
    return x + 1
"""
    x = leaf(1.0, 2.0)
    calls = [Call("f", (x, number), return_arguments=True) for number in (0, 7, 0)]
    first, lost, last = outcomes(walled, source, *calls)
    assert lost.status is CallStatus.CRASHED
    assert first.arguments == last.arguments == (x, 0)
    assert last.value == leaf(2.0, 3.0)


def test_student_code_gets_the_memory_and_no_descriptor_of_it(walled: Runner) -> None:
    source = """
import os
opened = []
for fd in range(64):
    try:
        os.fstat(fd)
    except OSError:
        continue
    opened.append(fd)
def f(x):
    return opened
"""
    (outcome,) = outcomes(walled, source, Call("f", (leaf(1.0),), return_arguments=True))
    assert outcome.value == [0, 1, 2, 3]


def test_the_memory_is_sealed_and_filled_only_when_the_file_is_loaded() -> None:
    from engine.sandbox.zygote_runner import SharedArrays

    x = leaf(1.0, 2.0)
    plan = encode_plan(Job("", "f.py", (Call("f", (x,), return_arguments=True),)), shared=True)
    arrays, other = SharedArrays(plan), SharedArrays(plan)
    try:
        assert os.pread(arrays.fd, arrays.size, 0) == bytes(len(x.data))
        with pytest.raises(PermissionError):
            os.ftruncate(arrays.fd, 0)
        with pytest.raises(PermissionError):
            fcntl.fcntl(arrays.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
        arrays.fill()
        assert os.pread(arrays.fd, arrays.size, 0) == x.data
        assert os.pread(other.fd, other.size, 0) == bytes(len(x.data))
        arrays.look(0)
        assert arrays.changed == {}
        os.pwrite(arrays.fd, b"\1", 3)
        arrays.look_again([])
        assert arrays.changed == {}
        arrays.look_again([0])
        assert arrays.changed == {0: x.data[:3] + b"\1" + x.data[4:]}
    finally:
        arrays.close()
        other.close()


def test_only_arrays_of_calls_whose_arguments_are_asked_for_are_shared() -> None:
    x, empty = leaf(1.0, 2.0), leaf()
    gaps = replace(x, contiguous=False)
    calls = (Call("f", (x,)), Call("f", (empty,), return_arguments=True))
    assert encode_plan(Job("", "f.py", calls), shared=True).memory == b""
    calls = (*calls, Call("f", (3, [x, gaps]), {"k": {"a": empty, "b": x}}, return_arguments=True))
    assert encode_plan(Job("", "f.py", calls)).memory == b""
    plan = encode_plan(Job("", "f.py", calls), shared=True)
    assert list(plan.spans) == [2]
    one, two = x.data[:8], x.data[8:]
    laid = x.data.ljust(64, b"\0") + (one + bytes(8) + two + bytes(8)).ljust(64, b"\0") + x.data
    assert plan.memory == laid
    span, last = plan.spans[2], calls[2]
    assert span.arguments(last, laid) == (3, [x, x], {"a": empty, "b": x})
    other = laid[:64] + two + b"\7" * 8 + one + b"\7" * 8 + laid[96:]
    assert span.arguments(last, other) == (3, [x, leaf(2.0, 1.0)], {"a": empty, "b": x})
