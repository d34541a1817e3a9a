# tries: send SIGKILL to itself
# stopped by: fork
# expect: crashed returned raised
# proof: dies
# control: naive

import os
import signal

import numpy as np


def softmax(x, axis=-1):
    os.kill(os.getpid(), signal.SIGKILL)
    return np.zeros(1)
