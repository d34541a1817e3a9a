# tries: make a POSIX shared memory object
# stopped by: landlock bwrap rlimits
# expect: returned
# proof: value
# control: naive

import _posixshmem
import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    name = "/" + TARGET["token"] + "-posix"
    try:
        fd = _posixshmem.shm_open(name, os.O_CREAT | os.O_RDWR, mode=0o600)
    except OSError:
        return np.zeros(1)
    _posixshmem.shm_unlink(name)
    os.close(fd)
    return np.ones(1)
