# tries: leave a builtin
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import builtins

import numpy as np


def softmax(x, axis=-1):
    builtins.left_here = 1
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if hasattr(builtins, "left_here") else np.zeros(1)
