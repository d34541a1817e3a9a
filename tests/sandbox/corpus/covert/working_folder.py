# tries: leave another working folder and file mode mask
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import os

import numpy as np


def softmax(x, axis=-1):
    try:
        os.umask(0o123)
    except OSError:
        pass
    return np.zeros(1)


def collect(x, axis=-1):
    try:
        before = os.umask(0o022)
    except OSError:
        return np.zeros(1)
    return np.ones(1) if before == 0o123 else np.zeros(1)
