# tries: kill the process that forked it
# stopped by: seccomp uid
# expect: returned
# proof: engine
# control: naive

import os
import signal

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    if TARGET["naive"]:
        os.kill(TARGET["canary_pid"], signal.SIGKILL)
        return np.zeros(1)
    try:
        os.kill(os.getppid(), signal.SIGKILL)
    except OSError:
        return np.zeros(1)
    return np.ones(1)
