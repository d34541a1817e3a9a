# tries: stop itself, so that it never answers and never ends
# stopped by: deadline seccomp
# expect: timed_out returned
# proof: time
# control: naive
# wall: 0.5

import os
import signal

import numpy as np


def softmax(x, axis=-1):
    try:
        os.kill(os.getpid(), signal.SIGSTOP)
    except OSError:
        return np.zeros(1)
    return np.zeros(1)
