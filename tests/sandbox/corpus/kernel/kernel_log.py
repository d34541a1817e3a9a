# tries: read the kernel's log
# stopped by: seccomp uid
# expect: returned
# proof: value
# control: naive-root

import ctypes

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    block = ctypes.create_string_buffer(4096)
    return np.ones(1) if libc.klogctl(3, block, 4096) > 0 else np.zeros(1)
