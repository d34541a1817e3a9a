# tries: a POSIX timer that signals another process's thread (SIGEV_THREAD_ID)
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes
import os

import numpy as np


class Event(ctypes.Structure):
    _fields_ = [("value", ctypes.c_void_p), ("signo", ctypes.c_int), ("notify", ctypes.c_int),
                ("tid", ctypes.c_int), ("pad", ctypes.c_int * 11)]


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 222, "aarch64": 107}[os.uname().machine]
    timer = ctypes.c_int()
    event = Event(signo=14, notify=4, tid=os.getpid())
    done = libc.syscall(number, 1, ctypes.byref(event), ctypes.byref(timer))
    return np.ones(1) if done == 0 else np.zeros(1)
