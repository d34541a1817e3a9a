# tries: attach a debugger to the zygote
# stopped by: seccomp uid landlock
# expect: returned
# proof: value
# control: naive

import ctypes
import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    pid = TARGET["canary_pid"] if TARGET["naive"] else os.getppid()
    done = libc.ptrace(0x4206, pid, None, None)
    if done == 0:
        libc.ptrace(17, pid, None, None)
    return np.ones(1) if done == 0 else np.zeros(1)
