# tries: one list of ten thousand million references
# stopped by: rlimits
# expect: out_of_memory raised
# proof: value
# control: status

import numpy as np


def softmax(x, axis=-1):
    hoard = [0] * 10**10
    return np.ones(1) if len(hoard) else np.zeros(1)
