# tries: print from C
# stopped by: output
# expect: returned timed_out too_large
# proof: flood
# control: naive
# wall: 3

import ctypes

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None)
    line = b"x" * 2**16
    for _ in range(512):
        libc.puts(line)
    libc.fflush(None)
    return np.zeros(1)
