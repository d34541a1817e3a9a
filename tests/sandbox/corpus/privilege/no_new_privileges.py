# tries: find out that a set-uid program would still give it rights
# stopped by: landlock seccomp
# expect: returned
# proof: value
# control: naive

import ctypes

import numpy as np


def softmax(x, axis=-1):
    return np.ones(1) if ctypes.CDLL(None).prctl(39, 0, 0, 0, 0) == 0 else np.zeros(1)
