# tries: stop kernel code half-way with userfaultfd
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes
import os

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 323, "aarch64": 282}[os.uname().machine]
    fd = libc.syscall(number, 1)
    if fd < 0 and ctypes.get_errno() == 38:
        return np.full(1, 2.0)
    return np.ones(1) if fd >= 0 else np.zeros(1)
