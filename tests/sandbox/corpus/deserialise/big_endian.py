# tries: big-endian numbers, which read as others if the order is forgotten
# stopped by: decoder
# expect: returned unsupported
# proof: exact
# value: 1.5 2.5
# control: status

import numpy as np


def softmax(x, axis=-1):
    return np.array([1.5, 2.5], dtype=">f8")
