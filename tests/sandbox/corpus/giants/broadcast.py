# tries: a numpy array of 10**12 elements that is 8 bytes in memory
# stopped by: decoder
# expect: too_large
# proof: naive-encode
# control: naive-encode

import numpy as np


def softmax(x, axis=-1):
    return np.broadcast_to(np.zeros(1), (10**6, 10**6))
