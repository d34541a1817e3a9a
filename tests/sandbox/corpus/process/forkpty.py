# tries: fork with a pseudo terminal
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import os

import numpy as np


def softmax(x, axis=-1):
    try:
        pid, fd = os.forkpty()
    except OSError:
        return np.zeros(1)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return np.ones(1)
