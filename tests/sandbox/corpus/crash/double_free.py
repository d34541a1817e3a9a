# tries: free the same memory twice
# stopped by: fork
# expect: crashed
# proof: dies
# control: naive

import ctypes

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    blocks = [libc.malloc(ctypes.c_size_t(5000)) for _ in range(2)]
    for _ in range(3):
        libc.free(ctypes.c_void_p(blocks[0]))
    libc.free(ctypes.c_void_p(12345))
    return np.zeros(1)
