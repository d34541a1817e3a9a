# tries: hold 900 file descriptors
# stopped by: rlimits
# expect: returned
# proof: value
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    held = []
    try:
        for _ in range(900):
            held.append(os.dup(0) if TARGET["naive"] is False else os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    got = len(held)
    for fd in held:
        os.close(fd)
    return np.ones(1) if got == 900 else np.zeros(1)
