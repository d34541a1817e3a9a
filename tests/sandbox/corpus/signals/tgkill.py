# tries: kill by a thread id with a raw tgkill
# stopped by: seccomp bwrap uid landlock
# expect: returned
# proof: canary
# control: naive

import ctypes
import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 234, "aarch64": 131}[os.uname().machine]
    pid = TARGET["canary_pid"]
    return np.ones(1) if libc.syscall(number, pid, pid, 9) == 0 else np.zeros(1)
