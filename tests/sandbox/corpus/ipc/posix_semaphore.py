# tries: make a named semaphore
# stopped by: landlock bwrap rlimits
# expect: returned
# proof: value
# control: naive

import ctypes

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.sem_open.restype = ctypes.c_void_p
    name = ("/" + TARGET["token"]).encode()
    if not libc.sem_open(name, 0o100, 0o600, 1):
        return np.zeros(1)
    libc.sem_unlink(name)
    return np.ones(1)
