# tries: the C library's system() through ctypes
# stopped by: seccomp
# expect: returned
# proof: file
# control: naive

import ctypes

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    ctypes.CDLL(None).system(f"echo > {TARGET['mark']}".encode())
    return np.zeros(1)
