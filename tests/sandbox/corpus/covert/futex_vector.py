# tries: wait for a word of shared memory by the newer call, which takes its flags out of sight of a filter
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes
import errno

import numpy as np

libc = ctypes.CDLL(None, use_errno=True)


def softmax(x, axis=-1):
    libc.syscall(449, None, 0, 0, None, 0)  # no vector at all: EINVAL where it is permitted
    if ctypes.get_errno() == errno.ENOSYS:
        return np.full(1, 2.0)
    return np.ones(1) if ctypes.get_errno() == errno.EINVAL else np.zeros(1)
