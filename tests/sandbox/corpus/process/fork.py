# tries: fork a child that leaves a mark
# stopped by: seccomp rlimits
# expect: returned
# proof: file
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        pid = os.fork()
    except OSError:
        return np.zeros(1)
    if pid == 0:
        os.close(os.open(TARGET["mark"], os.O_CREAT | os.O_WRONLY))
        os._exit(0)
    os.waitpid(pid, 0)
    return np.ones(1)
