# tries: find the values of the submission before it in freed memory
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import numpy as np


def softmax(x, axis=-1):
    for _ in range(20):
        np.full(64, 77.25).sum()
    return np.zeros(1)


def collect(x, axis=-1):
    heard = any((np.empty(64) == 77.25).any() for _ in range(20))
    return np.ones(1) if heard else np.zeros(1)
