# tries: ask by number whether other processes and their threads are there
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes
import os

import numpy as np

libc = ctypes.CDLL(None, use_errno=True)


def softmax(x, axis=-1):
    room = ctypes.create_string_buffer(1024)
    other = 1
    told = [
        libc.getpgid(other),
        libc.getsid(other),
        libc.sched_getscheduler(other),
        libc.sched_getparam(other, room),
        libc.sched_getaffinity(other, 1024, room),
    ]
    if os.sched_getaffinity(0) and max(told) >= 0:
        return np.ones(1)
    return np.zeros(1)
