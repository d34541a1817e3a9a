# tries: unmap its own stack
# stopped by: fork
# expect: crashed returned
# proof: dies
# control: naive

import ctypes

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None)
    local = ctypes.c_char()
    here = ctypes.c_void_p.in_dll(libc, "__libc_stack_end").value
    page = (here & ~4095) - 2**17
    libc.munmap(ctypes.c_void_p(page), ctypes.c_size_t(2**17))
    return np.zeros(1)
