# tries: an object that is another array at every look
# stopped by: decoder
# expect: unsupported
# proof: naive-encode
# control: naive-encode

import numpy as np


class Shifty:
    looks = 0
    dtype = np.dtype("float64")
    shape = (2,)

    def __array__(self, dtype=None, copy=None):
        Shifty.looks += 1
        return np.zeros(1000 * Shifty.looks)


def softmax(x, axis=-1):
    return Shifty()
