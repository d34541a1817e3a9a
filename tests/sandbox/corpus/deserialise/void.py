# tries: an array of raw bytes
# stopped by: decoder
# expect: unsupported
# proof: malformed
# control: status

import numpy as np


def softmax(x, axis=-1):
    return np.array([b"payload"], dtype="V16")
