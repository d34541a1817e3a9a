# tries: unmap its own stack
# stopped by: fork
# expect: crashed returned
# proof: dies
# control: naive

import ctypes

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None)
    here = ctypes.c_void_p.in_dll(libc, "__libc_stack_end").value
    top = (here & ~4095) + 4096
    libc.munmap(ctypes.c_void_p(top - 2**20), ctypes.c_size_t(2**20))
    return np.zeros(1)
