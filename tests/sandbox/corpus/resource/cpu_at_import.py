# tries: spin while the file is being loaded, before any call
# stopped by: deadline
# expect: load:timed_out
# proof: time
# control: naive
# wall: 0.5

import time

import numpy as np

_end = time.monotonic() + 30
while time.monotonic() < _end:
    pass


def softmax(x, axis=-1):
    return np.ones(1)
