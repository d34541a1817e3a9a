# tries: load a kernel module
# stopped by: seccomp uid
# expect: returned
# proof: value
# control: naive-root

import ctypes
import os

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 175, "aarch64": 105}[os.uname().machine]
    libc.syscall(number, b"", 0, b"")
    error = ctypes.get_errno()
    if error == 38:
        return np.full(1, 2.0)
    return np.zeros(1) if error == 1 else np.ones(1)
