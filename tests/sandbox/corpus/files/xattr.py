# tries: write a message into an extended attribute
# stopped by: seccomp bwrap uid
# expect: returned
# proof: victim
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        os.setxattr(TARGET["victim"], "user.message", b"hello")
    except OSError:
        return np.zeros(1)
    return np.ones(1)
