# tries: kill by a queued signal
# stopped by: seccomp bwrap uid landlock
# expect: returned
# proof: canary
# control: naive

import ctypes

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    return np.ones(1) if libc.sigqueue(TARGET["canary_pid"], 9, None) == 0 else np.zeros(1)
