# tries: fork at all
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import os

import numpy as np


def softmax(x, axis=-1):
    try:
        pid = os.fork()
    except OSError:
        return np.zeros(1)
    if pid == 0:
        os._exit(0)
    try:
        os.waitpid(pid, 0)
    except OSError:
        pass
    return np.ones(1)
