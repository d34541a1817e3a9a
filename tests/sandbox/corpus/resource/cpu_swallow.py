# tries: swallow the exception that a time limit raises, again and again
# stopped by: deadline
# expect: timed_out
# proof: time
# control: naive
# wall: 0.5

import time

import numpy as np


def softmax(x, axis=-1):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            while time.monotonic() < end:
                pass
        except BaseException:
            continue
    return np.ones(1)
