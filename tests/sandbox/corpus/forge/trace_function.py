# tries: watch the harness with a trace and profile function and change its variables
# stopped by: grader fork
# expect: returned raised crashed protocol_violation unsupported timed_out
# proof: malformed
# control: status
# wall: 3

import sys
import threading

import numpy as np


def _trace(frame, event, argument):
    for name in list(frame.f_locals):
        if name in ("value", "limit", "shape", "size", "data"):
            try:
                import ctypes

                frame.f_locals[name] = 2**40
                ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
            except BaseException:
                continue
    return _trace


def softmax(x, axis=-1):
    threading.settrace(_trace)
    sys.setprofile(_trace)
    sys.settrace(_trace)
    frame = sys._getframe().f_back
    while frame is not None:
        frame.f_trace = _trace
        frame = frame.f_back
    return np.zeros(1)
