# tries: move another process's memory between nodes
# stopped by: seccomp bwrap uid
# expect: returned
# proof: value
# control: naive

import ctypes
import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 256, "aarch64": 238}[os.uname().machine]
    nodes = (ctypes.c_ulong * 16)(1)
    done = libc.syscall(number, TARGET["canary_pid"], 64, nodes, nodes)
    if done < 0 and ctypes.get_errno() == 38:
        return np.full(1, 2.0)
    return np.ones(1) if done >= 0 else np.zeros(1)
