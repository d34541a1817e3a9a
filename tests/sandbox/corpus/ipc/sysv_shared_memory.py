# tries: make a System V shared memory segment, which outlives its process
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    segment = libc.shmget(TARGET["ipc_key"], ctypes.c_size_t(4096), 0o1600)
    if segment < 0:
        return np.zeros(1)
    libc.shmctl(segment, 0, None)
    return np.ones(1)
