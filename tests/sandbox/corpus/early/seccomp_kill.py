# tries: break the filter in every way that may kill it, to look like a victim of the machine
# stopped by: grader
# expect: returned crashed
# proof: malformed
# control: status

import ctypes
import mmap
import os

import numpy as np


def softmax(x, axis=-1):
    if os.uname().machine == "x86_64":
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        page.write(bytes.fromhex("53b825000000cd805bc3"))  # int 0x80: kill
        ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    return np.zeros(1)
