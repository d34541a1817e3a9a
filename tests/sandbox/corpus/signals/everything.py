# tries: kill(-1): every process that it may reach
# stopped by: seccomp uid
# expect: returned crashed
# proof: engine
# control: status

import os
import signal

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    if TARGET["naive"]:
        return np.zeros(1)
    try:
        os.kill(-1, signal.SIGTERM)
    except OSError:
        return np.zeros(1)
    return np.ones(1)
