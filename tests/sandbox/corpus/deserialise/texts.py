# tries: an array of strings
# stopped by: decoder
# expect: unsupported
# proof: malformed
# control: status

import numpy as np


def softmax(x, axis=-1):
    return np.array(["0.5", "x" * 10**6])
