# tries: ask to get a signal instead of death, then block it and stay when the zygote goes
# stopped by: deadline fork
# expect: timed_out
# proof: time
# control: naive
# wall: 0.5

import ctypes
import signal
import time

import numpy as np


def softmax(x, axis=-1):
    ctypes.CDLL(None).prctl(1, int(signal.SIGUSR1), 0, 0, 0)
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    time.sleep(30)
    return np.ones(1)
