# tries: leave other interpreter switches
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import sys

import numpy as np


def softmax(x, axis=-1):
    sys.setrecursionlimit(977)
    sys.setswitchinterval(0.125)
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if sys.getrecursionlimit() == 977 else np.zeros(1)
