# tries: change a cached small integer for everybody
# stopped by: fork
# expect: returned raised crashed
# proof: next
# control: naive
# pair: same

import ctypes

import numpy as np


def softmax(x, axis=-1):
    ctypes.c_int.from_address(id(251) + 24).value = 252
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if int("251") != int("25" + "1", 10) or str(int("251")) == "252" else np.zeros(1)
