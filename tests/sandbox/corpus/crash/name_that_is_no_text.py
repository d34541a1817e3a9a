# tries: take a name that is no text, then go silent: the grader looks at a process that says nothing more
# stopped by: grader
# expect: crashed
# proof: engine
# control: status

import ctypes
import os
import time

import numpy as np

libc = ctypes.CDLL(None)


def softmax(x, axis=-1):
    libc.prctl(15, b"\xfe)R \xff(", 0, 0, 0)
    os.close(3)
    time.sleep(0.3)
    return np.zeros(1)
