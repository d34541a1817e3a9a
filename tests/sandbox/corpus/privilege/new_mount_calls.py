# tries: mount by the new calls: fsopen, open_tree, move_mount
# stopped by: seccomp uid
# expect: returned
# proof: value
# control: naive-root

import ctypes

import numpy as np


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    opened = libc.syscall(430, b"tmpfs", 0)
    tree = libc.syscall(428, -100, b"/tmp", 1)
    return np.ones(1) if opened >= 0 or tree >= 0 else np.zeros(1)
