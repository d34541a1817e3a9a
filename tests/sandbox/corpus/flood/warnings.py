# tries: raise a million warnings
# stopped by: grader deadline
# expect: returned timed_out too_large
# proof: none
# control: status
# wall: 3

import warnings

import numpy as np


def softmax(x, axis=-1):
    warnings.simplefilter("always")
    for number in range(20_000):
        warnings.warn("x" * 1000 + str(number), stacklevel=1)
    return np.zeros(1)
