# tries: sleep, which costs no CPU time
# stopped by: deadline
# expect: timed_out
# proof: time
# control: naive
# wall: 0.5

import time

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    time.sleep(TARGET["long_s"])
    return np.ones(1)
