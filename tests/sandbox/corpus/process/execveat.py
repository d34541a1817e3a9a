# tries: execveat on an open file descriptor of a readable program
# stopped by: seccomp
# expect: returned
# proof: replaced
# control: naive

import ctypes
import os
import sys

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        fd = os.open(sys.executable, os.O_RDONLY)
    except OSError:
        return np.zeros(1)
    number = {"x86_64": 322, "aarch64": 281}[os.uname().machine]
    arguments = (ctypes.c_char_p * 4)(b"python", b"-c", b"import os; os._exit(7)", None)
    nothing = (ctypes.c_char_p * 1)(None)
    libc.syscall(number, fd, b"", arguments, nothing, 0x1000)
    return np.zeros(1)
