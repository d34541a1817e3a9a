# tries: send a better answer while the process ends
# stopped by: grader
# expect: returned protocol_violation
# proof: malformed
# control: status

import atexit
import os

import numpy as np


def _late():
    for fd in range(0, 64):
        try:
            os.write(fd, b"SMK1" + b"\x12" + b"\xff" * 60)
        except OSError:
            continue

atexit.register(_late)


def softmax(x, axis=-1):
    return np.zeros(1)
