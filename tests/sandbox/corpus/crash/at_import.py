# tries: crash while the file is being loaded
# stopped by: fork
# expect: load:crashed
# proof: dies
# control: naive

import ctypes

import numpy as np

ctypes.memset(0, 1, 1)


def softmax(x, axis=-1):
    return np.zeros(1)
