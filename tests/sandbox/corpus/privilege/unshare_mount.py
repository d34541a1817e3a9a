# tries: make user and mount namespaces and mount a tmpfs over the world
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x10000000 | 0x00020000) != 0:
        return np.zeros(1)
    return np.ones(1) if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0 else np.zeros(1)
