# tries: exchange the root file system
# stopped by: seccomp
# expect: returned
# proof: value
# control: status

import ctypes
import os

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 155, "aarch64": 41}[os.uname().machine]
    return np.ones(1) if libc.syscall(number, b"/tmp", b"/tmp") == 0 else np.zeros(1)
