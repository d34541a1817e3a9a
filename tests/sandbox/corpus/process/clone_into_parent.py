# tries: clone a sibling with CLONE_PARENT, which would be the zygote's child
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes
import os
import signal

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
    pid = libc.syscall(clone, 0x8000 | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        libc._exit(0)
    return np.ones(1) if pid > 0 else np.zeros(1)
