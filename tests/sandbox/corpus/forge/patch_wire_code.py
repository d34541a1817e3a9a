# tries: change the reply writer from within by its code objects, also where references were captured
# stopped by: grader
# expect: returned protocol_violation crashed unsupported raised too_large timed_out
# proof: malformed
# control: status
# wall: 3

import gc
import types

import numpy as np


def _lie(*args, **kwargs):
    return ["a", "numpy", "float64", [2**40], 3]


def softmax(x, axis=-1):
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__code__.co_filename.endswith(("wire.py", "leaves.py")):
            if not thing.__closure__:
                try:
                    thing.__code__ = _lie.__code__
                except ValueError:
                    continue
    return np.zeros(4)
