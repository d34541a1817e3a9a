# tries: set numpy's random state
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import numpy as np


def softmax(x, axis=-1):
    np.random.seed(424242)
    return np.zeros(1)


def collect(x, axis=-1):
    state = np.random.get_state()[1][0]
    return np.ones(1) if state == 424242 else np.zeros(1)
