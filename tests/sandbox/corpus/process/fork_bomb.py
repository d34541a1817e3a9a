# tries: a fork bomb, bounded to 16 processes that sleep
# stopped by: seccomp rlimits
# expect: returned
# proof: survivor
# control: naive

import os
import time

import numpy as np


def softmax(x, axis=-1):
    for _ in range(16):
        try:
            if os.fork() == 0:
                time.sleep(20)
                os._exit(0)
        except OSError:
            return np.zeros(1)
    return np.ones(1)
