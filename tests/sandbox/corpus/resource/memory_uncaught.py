# tries: run out of memory without catching the error
# stopped by: rlimits
# expect: out_of_memory raised
# proof: value
# control: naive

import numpy as np


def softmax(x, axis=-1):
    giant = np.zeros(6 * 2**27)
    return np.ones(1) if giant.size else np.zeros(1)
