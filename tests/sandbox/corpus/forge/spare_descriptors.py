# tries: find a descriptor that was left open, such as the zygote's own line to the grader
# stopped by: descriptors
# expect: returned
# proof: value
# control: naive

import os
import stat

import numpy as np


def softmax(x, axis=-1):
    found = 0
    for fd in range(4, 256):
        try:
            mode = os.fstat(fd).st_mode
        except OSError:
            continue
        if stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode) or stat.S_ISREG(mode):
            found += 1
    return np.ones(1) if found else np.zeros(1)
