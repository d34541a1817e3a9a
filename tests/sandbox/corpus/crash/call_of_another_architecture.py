# tries: have the filter kill one of its threads by a 32-bit call, and go on as a process that nobody understands
# stopped by: seccomp
# expect: crashed
# proof: value
# control: naive

import ctypes
import mmap
import os
import threading

import numpy as np

CODE = bytes.fromhex("53b814000000cd805bc3")  # int 0x80: getpid


def _call():
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(CODE)
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


def softmax(x, axis=-1):
    if os.uname().machine != "x86_64":
        os.abort()
    thread = threading.Thread(target=_call, daemon=True)
    thread.start()
    thread.join(0.3)
    return np.ones(1)
