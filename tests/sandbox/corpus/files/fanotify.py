# tries: watch a whole file system
# stopped by: seccomp uid
# expect: returned
# proof: value
# control: naive-root

import ctypes

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    return np.ones(1) if libc.fanotify_init(0, 0) >= 0 else np.zeros(1)
