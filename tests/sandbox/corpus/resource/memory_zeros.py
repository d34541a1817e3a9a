# tries: ask for 6 GiB of address space in one numpy array
# stopped by: rlimits
# expect: returned
# proof: value
# control: naive

import numpy as np


def softmax(x, axis=-1):
    try:
        giant = np.zeros(6 * 2**27)
    except MemoryError:
        return np.zeros(1)
    return np.ones(1) if giant.nbytes == 6 * 2**30 else np.zeros(1)
