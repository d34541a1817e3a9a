# tries: pin memory so that the machine can't reclaim it
# stopped by: seccomp rlimits
# expect: returned
# proof: value
# control: naive

import ctypes

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    block = (ctypes.c_char * 2**20)()
    return np.ones(1) if libc.mlock(block, ctypes.c_size_t(2**20)) == 0 else np.zeros(1)
