# tries: turn off address randomisation for later programs
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    return np.ones(1) if libc.personality(ctypes.c_ulong(0x0040000)) >= 0 else np.zeros(1)
