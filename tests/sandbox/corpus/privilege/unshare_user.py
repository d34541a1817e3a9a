# tries: make a user namespace and be root in it
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    return np.ones(1) if libc.unshare(0x10000000) == 0 else np.zeros(1)
