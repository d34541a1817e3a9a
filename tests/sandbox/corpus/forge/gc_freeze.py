# tries: switch off garbage collection and break weak references of the harness
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import gc

import numpy as np


def softmax(x, axis=-1):
    gc.disable()
    gc.set_threshold(10**6 + 7)
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if gc.get_threshold()[0] == 10**6 + 7 else np.zeros(1)
