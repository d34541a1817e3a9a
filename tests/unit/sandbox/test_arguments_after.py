"""What is told of arguments after a call: cooperative, but not for the asking."""

from __future__ import annotations

import struct

from engine.runner import Call, Job, Leaf, Limits
from engine.sandbox import open_runner

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
    ones = Leaf("numpy", "float64", (3,), struct.pack("<3d", 1.0, 1.0, 1.0))
    calls = (
        Call("softmax", (ones,), return_arguments=True),
        Call("record", ({"W": ones},), return_arguments=True),
    )
    with open_runner(tier="T3", unsafe_local=True) as runner:
        listed, record = runner.run(Job(_RESTORES, "f.py", calls, Limits(wall_s=60.0, call_s=30.0))).outcomes
    assert listed.value.data == ones.data
    assert listed.arguments[0].data == struct.pack("<3d", -7.0, -7.0, -7.0)
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
    ones = Leaf("numpy", "float64", (3,), struct.pack("<3d", 1.0, 2.0, 3.0))
    names = ("fresh", "fresh", "again", "again", "listed", "listed")
    calls = tuple(Call(name, (ones,), return_arguments=True, overwrite_result=True) for name in names)
    with open_runner(tier="T3", unsafe_local=True) as runner:
        outcomes = runner.run(Job(_KEEPS, "f.py", calls, Limits(wall_s=60.0, call_s=30.0))).outcomes
    assert [outcome.kept for outcome in outcomes] == [False, False, False, True, False, True]
    assert not any(outcome.shared for outcome in outcomes)
    assert outcomes[3].value.data == struct.pack("<3d", 3.0, 2.0, 1.0)
