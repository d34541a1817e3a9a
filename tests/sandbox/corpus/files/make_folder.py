# tries: make a folder
# stopped by: landlock bwrap seccomp
# expect: returned
# proof: file
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        os.mkdir(TARGET["mark"])
    except OSError:
        return np.zeros(1)
    return np.ones(1)
