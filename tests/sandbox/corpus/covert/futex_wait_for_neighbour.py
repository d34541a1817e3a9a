# tries: wait on a page that all slots share until another slot wakes it
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes
import errno
import os

import numpy as np

libc = ctypes.CDLL(None, use_errno=True)
FUTEX = {"x86_64": 202, "aarch64": 98}[os.uname().machine]


class Span(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]


def softmax(x, axis=-1):
    place = ctypes.cast(ctypes.CDLL("libm.so.6").sinh, ctypes.c_void_p).value & ~3
    value = ctypes.c_uint32.from_address(place).value
    libc.syscall(FUTEX, ctypes.c_void_p(place), 0, ctypes.c_uint32(value), ctypes.byref(Span(0, 10**7)))
    # where it is permitted nobody comes in time
    return np.ones(1) if ctypes.get_errno() == errno.ETIMEDOUT else np.zeros(1)
