# tries: mount a file system
# stopped by: seccomp uid
# expect: returned
# proof: value
# control: naive-root

import ctypes

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"none", TARGET["folder"].encode(), b"tmpfs", 0, None) != 0:
        return np.zeros(1)
    libc.umount2(TARGET["folder"].encode(), 2)
    return np.ones(1)
