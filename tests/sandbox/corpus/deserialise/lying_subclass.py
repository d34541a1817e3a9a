# tries: an ndarray subclass whose shape, dtype and bytes contradict each other
# stopped by: decoder
# expect: returned
# proof: naive-encode
# control: naive-encode

import numpy as np


class Liar(np.ndarray):
    @property
    def shape(self):
        return (10**9,)

    @property
    def nbytes(self):
        return 0

    def __array__(self, *args, **kwargs):
        return np.zeros(3)

    def __eq__(self, other):
        return True

    def tobytes(self, order="C"):
        return b"x" * 24


def softmax(x, axis=-1):
    return np.zeros(3).view(Liar)
