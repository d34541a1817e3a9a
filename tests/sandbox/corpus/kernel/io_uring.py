# tries: set up io_uring, whose operations pass a filter unseen
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    params = (ctypes.c_char * 120)()
    fd = libc.syscall(425, 4, params)
    if fd < 0 and ctypes.get_errno() in (38, 1) and TARGET["naive"]:
        return np.full(1, 2.0)
    return np.ones(1) if fd >= 0 else np.zeros(1)
