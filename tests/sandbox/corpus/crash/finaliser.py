# tries: crash in a finaliser after the answer
# stopped by: fork
# expect: returned
# proof: none
# control: status

import atexit
import ctypes

import numpy as np

atexit.register(ctypes.memset, 0, 1, 1)


class Trap:
    def __del__(self):
        ctypes.memset(0, 1, 1)

_trap = Trap()


def softmax(x, axis=-1):
    return np.zeros(1)
