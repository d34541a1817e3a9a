# tries: change the root folder, the first half of the classic escape
# stopped by: seccomp uid
# expect: returned
# proof: value
# control: naive-root

import os

import numpy as np


def softmax(x, axis=-1):
    try:
        os.chroot("/")
    except OSError:
        return np.zeros(1)
    return np.ones(1)
