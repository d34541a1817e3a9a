# tries: execute an illegal instruction
# stopped by: fork
# expect: crashed raised returned
# proof: dies
# control: naive

import ctypes
import mmap

import numpy as np


def softmax(x, axis=-1):
    try:
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return np.zeros(1)
    page.write(b"\x0f\x0b\x00\x00")
    ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    return np.zeros(1)
