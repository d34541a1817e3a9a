# tries: write a message into the times of a file
# stopped by: seccomp bwrap uid
# expect: returned
# proof: victim
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        os.utime(TARGET["victim"], (1234567890, 1234567890))
    except OSError:
        return np.zeros(1)
    return np.ones(1)
