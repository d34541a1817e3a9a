# tries: write to address 0
# stopped by: fork
# expect: returned crashed
# proof: dies
# control: naive
# calls: 3

import ctypes

import numpy as np

_calls = 0


def softmax(x, axis=-1):
    global _calls
    _calls += 1
    if _calls == 2:
        ctypes.memset(0, 1, 1)
    return np.zeros(1)
