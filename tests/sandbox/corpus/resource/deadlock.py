# tries: wait for ever on a lock that nobody frees
# stopped by: deadline
# expect: timed_out
# proof: time
# control: naive
# wall: 0.5

import threading

import numpy as np


def softmax(x, axis=-1):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
    return np.ones(1)
