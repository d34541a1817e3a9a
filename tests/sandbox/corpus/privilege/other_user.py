# tries: become another slot's user
# stopped by: uid seccomp
# expect: returned
# proof: value
# control: naive-root

import os

import numpy as np


def softmax(x, axis=-1):
    uid = os.getuid()
    try:
        os.setresuid(uid + 1, uid + 1, uid + 1)
    except OSError:
        return np.zeros(1)
    return np.ones(1) if os.getuid() == uid + 1 else np.zeros(1)
