# tries: write a file of 1 MiB where every process may
# stopped by: rlimits landlock bwrap
# expect: returned
# proof: file
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        with open(TARGET["mark"], "wb") as file:
            file.write(b"x" * 2**20)
    except OSError:
        return np.zeros(1)
    return np.ones(1)
