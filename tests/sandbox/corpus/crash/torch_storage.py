# tries: read far outside a tensor's memory
# stopped by: fork
# expect: crashed
# proof: dies
# control: naive

import ctypes

import numpy as np
import torch


def softmax(x, axis=-1):
    flat = np.ctypeslib.as_array(ctypes.cast(4096, ctypes.POINTER(ctypes.c_double)), shape=(1024,))
    return torch.from_numpy(flat).sum()
