# tries: a strided view that reads past the end of its memory
# stopped by: decoder
# expect: raised returned unsupported too_large crashed
# proof: malformed
# control: status

import numpy as np


def softmax(x, axis=-1):
    return np.lib.stride_tricks.as_strided(np.zeros(1), shape=(1000,), strides=(0,))
