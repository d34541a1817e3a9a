# tries: an array of 64 axes
# stopped by: decoder
# expect: too_large unsupported returned
# proof: malformed
# control: status

import numpy as np


def softmax(x, axis=-1):
    return np.zeros((1,) * 64)
