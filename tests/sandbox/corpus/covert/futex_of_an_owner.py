# tries: lock a word whose owner it names by a number: that tells who is there, and who waits for whom
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes
import errno
import os
import threading

import numpy as np

libc = ctypes.CDLL(None, use_errno=True)
FUTEX = {"x86_64": 202, "aarch64": 98}[os.uname().machine]
LOCK_PI_PRIVATE = 6 | 128


def softmax(x, axis=-1):
    word = ctypes.c_uint32(threading.get_native_id())
    libc.syscall(FUTEX, ctypes.byref(word), LOCK_PI_PRIVATE, 0, None)
    return np.ones(1) if ctypes.get_errno() == errno.EDEADLK else np.zeros(1)
