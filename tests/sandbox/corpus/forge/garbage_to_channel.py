# tries: write garbage to every open descriptor
# stopped by: grader
# expect: protocol_violation
# proof: malformed
# control: status

import os

import numpy as np


def softmax(x, axis=-1):
    for fd in range(3, 64):
        try:
            os.write(fd, b"\x00garbage\xff" * 10)
        except OSError:
            continue
    return np.zeros(1)
