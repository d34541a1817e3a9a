# tries: slow down another process of the same user
# stopped by: seccomp uid bwrap
# expect: returned
# proof: value
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        os.setpriority(os.PRIO_PROCESS, TARGET["canary_pid"], 19)
    except OSError:
        return np.zeros(1)
    return np.ones(1)
