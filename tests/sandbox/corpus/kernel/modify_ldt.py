# tries: change the processor's segment table
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes
import os

import numpy as np


def softmax(x, axis=-1):
    if os.uname().machine != "x86_64":
        return np.full(1, 2.0)
    libc = ctypes.CDLL(None, use_errno=True)
    block = ctypes.create_string_buffer(64)
    done = libc.syscall(154, 0, block, 64)
    if done < 0 and ctypes.get_errno() == 38:
        return np.full(1, 2.0)
    return np.ones(1) if done >= 0 else np.zeros(1)
