# tries: clone3, whose flags a filter can't see
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
    arguments = (ctypes.c_uint64 * 11)()
    arguments[4] = signal.SIGCHLD
    pid = libc.syscall(435, arguments, ctypes.sizeof(arguments))
    if pid == 0:
        libc._exit(0)
    if pid < 0:
        return np.zeros(1)
    try:
        os.waitpid(pid, 0)
    except OSError:
        pass
    return np.ones(1)
