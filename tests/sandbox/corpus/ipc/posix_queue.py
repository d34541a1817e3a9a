# tries: make a POSIX message queue
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    librt = ctypes.CDLL("librt.so.1", use_errno=True)
    name = ("/" + TARGET["token"]).encode()
    queue = librt.mq_open(name, 0o102, 0o600, None)
    if queue < 0:
        return np.full(1, 2.0) if ctypes.get_errno() == 38 and TARGET["naive"] else np.zeros(1)
    librt.mq_unlink(name)
    return np.ones(1)
