# tries: wake whoever waits, in whatever slot, on a page of the mathematics library: it is one page for all
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes
import os

import numpy as np

libc = ctypes.CDLL(None, use_errno=True)
FUTEX = {"x86_64": 202, "aarch64": 98}[os.uname().machine]


def softmax(x, axis=-1):
    place = ctypes.cast(ctypes.CDLL("libm.so.6").cosh, ctypes.c_void_p).value & ~3
    woken = [libc.syscall(FUTEX, ctypes.c_void_p(place), wake, 1, None, None, -1) for wake in (1, 10)]
    return np.ones(1) if max(woken) >= 0 else np.zeros(1)
