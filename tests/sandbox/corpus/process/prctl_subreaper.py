# tries: adopt orphans and change its name to look like the zygote, then outlive its call
# stopped by: deadline fork
# expect: timed_out
# proof: time
# control: naive
# wall: 0.5

import ctypes
import time

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(36, 1, 0, 0, 0)
    libc.prctl(15, b"zygote", 0, 0, 0)
    libc.prctl(1, 0, 0, 0, 0)
    time.sleep(30)
    return np.ones(1)
