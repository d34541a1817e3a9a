# tries: print without end
# stopped by: grader deadline
# expect: timed_out returned too_large
# proof: time
# control: naive
# wall: 0.5

import time

import numpy as np


def softmax(x, axis=-1):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        print("x" * 1000)
    return np.ones(1)
