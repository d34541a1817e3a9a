# tries: open a performance counter
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive-root

import ctypes
import os

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
    attributes = (ctypes.c_char * 128)()
    ctypes.memmove(attributes, (ctypes.c_uint32 * 4)(1, 128, 1, 0), 16)
    fd = libc.syscall(number, attributes, 0, -1, -1, 0)
    if fd < 0 and ctypes.get_errno() in (38, 2):
        return np.full(1, 2.0)
    return np.ones(1) if fd >= 0 else np.zeros(1)
