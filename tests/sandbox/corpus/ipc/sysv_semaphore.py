# tries: make a System V semaphore
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    semaphore = libc.semget(TARGET["ipc_key"], 1, 0o1600)
    if semaphore < 0:
        return np.zeros(1)
    libc.semctl(semaphore, 0, 0)
    return np.ones(1)
