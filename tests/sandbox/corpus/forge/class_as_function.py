# tries: be a class whose instances pose as arrays
# stopped by: decoder
# expect: unsupported raised
# proof: malformed
# control: status

import numpy as np


class softmax:
    __class__ = np.ndarray
    dtype = np.dtype("float64")
    shape = (10**12,)

    def __init__(self, x, axis=-1):
        self.x = x

    def tobytes(self):
        return b"\x00" * 8
