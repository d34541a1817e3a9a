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
