# tries: return an array whose memory is not mapped, so that the encoder reads it
# stopped by: fork
# expect: crashed
# proof: dies
# control: naive

import ctypes

import numpy as np


def softmax(x, axis=-1):
    return np.ctypeslib.as_array(ctypes.cast(4096, ctypes.POINTER(ctypes.c_double)), shape=(1024,))
