# tries: become traced by its parent, which then gets its stops instead of its end
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes

import numpy as np


def softmax(x, axis=-1):
    return np.ones(1) if ctypes.CDLL(None, use_errno=True).ptrace(0, 0, None, None) == 0 else np.zeros(1)
