# tries: hold data in an anonymous file
# stopped by: rlimits seccomp
# expect: returned
# proof: value
# control: naive

import os

import numpy as np


def softmax(x, axis=-1):
    try:
        fd = os.memfd_create("hoard")
        written = os.write(fd, b"x" * 4096)
    except OSError:
        return np.zeros(1)
    return np.ones(1) if written == 4096 else np.zeros(1)
