# tries: write into the code pages of a shared library, which are one copy in memory for all
# stopped by: fork
# expect: returned raised crashed
# proof: next
# control: naive
# pair: same

import ctypes

import numpy as np

libc = ctypes.CDLL(None, use_errno=True)


def softmax(x, axis=-1):
    place = ctypes.cast(libc.l64a, ctypes.c_void_p).value
    page = place & ~4095
    if libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(8192), 7) == 0:
        ctypes.memmove(place, b"\xb8\x2a\x00\x00\x00\xc3", 6)
    return np.zeros(1)


def collect(x, axis=-1):
    place = ctypes.cast(libc.l64a, ctypes.c_void_p).value
    return np.ones(1) if ctypes.string_at(place, 6) == b"\xb8\x2a\x00\x00\x00\xc3" else np.zeros(1)
