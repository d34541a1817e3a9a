# tries: overwrite the interpreter's own objects
# stopped by: fork
# expect: crashed timed_out raised protocol_violation
# proof: dies
# control: naive
# wall: 3

import ctypes


def softmax(x, axis=-1):
    for thing in (None, True, int, list, str, type):
        ctypes.memset(id(thing), 0xFF, 32)
    return [str(1) + repr(None) for _ in range(10)]
