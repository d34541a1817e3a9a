# tries: ask keyctl for the session key ring
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes
import os

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
    key = libc.syscall(number, 0, -4, 1)
    if key < 0 and ctypes.get_errno() == 38:
        return np.full(1, 2.0)
    return np.ones(1) if key > 0 else np.zeros(1)
