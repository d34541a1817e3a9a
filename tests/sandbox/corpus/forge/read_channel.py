# tries: eat what the grader sends to it, so that the protocol goes out of step
# stopped by: grader deadline
# expect: returned crashed protocol_violation timed_out not_run
# proof: malformed
# control: status
# wall: 1
# calls: 3

import os

import numpy as np


def softmax(x, axis=-1):
    for fd in range(0, 32):
        try:
            os.set_blocking(fd, False)
        except OSError:
            pass
        try:
            os.read(fd, 2**20)
        except OSError:
            continue
    return np.zeros(1)
