# tries: raise SIGSEGV by hand
# stopped by: fork
# expect: crashed returned raised
# proof: dies
# control: naive

import signal

import numpy as np


def softmax(x, axis=-1):
    signal.raise_signal(signal.SIGSEGV)
    return np.zeros(1)
