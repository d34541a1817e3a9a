# tries: an integer power that takes hours inside one bytecode
# stopped by: deadline
# expect: timed_out
# proof: time
# control: naive
# wall: 0.5

import numpy as np


def softmax(x, axis=-1):
    value = 7 ** (10**8)
    return np.ones(1) if value else np.zeros(1)
