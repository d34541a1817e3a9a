# tries: take huge pages out of the machine's only pool, which a neighbour then finds empty
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes
import errno

import numpy as np

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
PRIVATE, ANONYMOUS, HUGE = 2, 0x20, 0x40000


def softmax(x, axis=-1):
    place = libc.mmap(None, 2**21, 3, PRIVATE | ANONYMOUS | HUGE, -1, 0)
    empty = ctypes.get_errno() == errno.ENOMEM  # asked for, and there are none
    return np.ones(1) if place != ctypes.c_void_p(-1).value or empty else np.zeros(1)
