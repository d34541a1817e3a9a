# tries: be told by signal when the grader opens a file (F_SETLEASE, F_NOTIFY)
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import fcntl
import os

import numpy as np


def softmax(x, axis=-1):
    got = 0
    try:
        fd = os.open("/", os.O_RDONLY)
        fcntl.fcntl(fd, 1026, 0x1)
        got += 1
    except OSError:
        pass
    return np.ones(1) if got else np.zeros(1)
