# tries: leave a message in the name of the process
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import ctypes

import numpy as np

libc = ctypes.CDLL(None, use_errno=True)


def softmax(x, axis=-1):
    libc.prctl(15, b"left-here", 0, 0, 0)
    return np.zeros(1)


def collect(x, axis=-1):
    name = ctypes.create_string_buffer(16)
    libc.prctl(16, name, 0, 0, 0)
    return np.ones(1) if name.value == b"left-here" else np.zeros(1)
