# tries: return from a signal that never came, with a stack of rubbish
# stopped by: fork
# expect: crashed
# proof: dies
# control: naive

import ctypes
import os

import numpy as np


def softmax(x, axis=-1):
    number = {"x86_64": 15, "aarch64": 139}[os.uname().machine]
    ctypes.CDLL(None).syscall(number)
    return np.zeros(1)
