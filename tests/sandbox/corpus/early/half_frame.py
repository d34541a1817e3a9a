# tries: send half a header and then nothing, so that the grader waits for ever
# stopped by: deadline
# expect: timed_out protocol_violation
# proof: time
# control: naive
# wall: 0.5

import os
import time

import numpy as np


def softmax(x, axis=-1):
    for fd in range(3, 64):
        try:
            os.write(fd, b"SMK1\x12")
        except OSError:
            continue
    time.sleep(30)
    return np.ones(1)
