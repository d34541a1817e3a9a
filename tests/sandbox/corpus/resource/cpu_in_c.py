# tries: hold the interpreter lock inside one long C call, so that no Python signal handler runs
# stopped by: deadline
# expect: timed_out
# proof: time
# control: naive
# wall: 0.5

import collections
import itertools

import numpy as np


def softmax(x, axis=-1):
    collections.deque(itertools.repeat(0, 10**11), maxlen=0)
    return np.ones(1)
