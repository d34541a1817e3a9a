# tries: load a BPF map
# stopped by: seccomp uid
# expect: returned
# proof: value
# control: naive-root

import ctypes
import os

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
    attributes = (ctypes.c_uint32 * 32)(2, 4, 8, 1)
    fd = libc.syscall(number, 0, attributes, ctypes.sizeof(attributes))
    if fd < 0 and ctypes.get_errno() == 38:
        return np.full(1, 2.0)
    return np.ones(1) if fd >= 0 else np.zeros(1)
