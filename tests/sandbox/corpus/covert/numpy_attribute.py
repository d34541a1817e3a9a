# tries: leave a message on the numpy module
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    np.left_here = TARGET["token"]
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if hasattr(np, "left_here") else np.zeros(1)
