# tries: kill its whole process group, the zygote's group too
# stopped by: seccomp uid
# expect: returned crashed
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
        os.killpg(0, signal.SIGTERM)
    except OSError:
        return np.zeros(1)
    return np.ones(1)
