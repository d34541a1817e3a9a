# tries: install a seccomp filter for all threads
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    rule = (ctypes.c_uint64 * 1)(0x7FFF000000000006)
    program = (ctypes.c_uint64 * 2)(1, ctypes.addressof(rule))
    libc.prctl(38, 1, 0, 0, 0)
    return np.ones(1) if libc.prctl(22, 2, program, 0, 0) == 0 else np.zeros(1)
