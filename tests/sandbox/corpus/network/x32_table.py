# tries: open a socket through the x32 system call table
# stopped by: seccomp
# expect: returned crashed
# proof: value
# control: naive

import ctypes
import os

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    if os.uname().machine != "x86_64":
        return np.full(1, 2.0)
    fd = libc.syscall(0x40000000 | 41, 2, 1, 0)
    if fd < 0 and ctypes.get_errno() == 38:
        return np.full(1, 2.0)
    return np.ones(1) if fd >= 0 else np.zeros(1)
