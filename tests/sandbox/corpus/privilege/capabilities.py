# tries: raise capabilities, the ambient set too
# stopped by: uid seccomp
# expect: returned
# proof: value
# control: naive-root

import ctypes

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    libc.capget(header, data)
    wanted = (ctypes.c_uint32 * 6)(1 << 7, 1 << 7, 0, 0, 0, 0)
    return np.ones(1) if libc.capset(header, wanted) == 0 else np.zeros(1)
