# tries: make a named pipe
# stopped by: landlock bwrap seccomp
# expect: returned
# proof: file
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        os.mkfifo(TARGET["mark"])
    except OSError:
        return np.zeros(1)
    return np.ones(1)
