# tries: ask the kernel for its routes over netlink
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import socket

import numpy as np


def softmax(x, axis=-1):
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as door:
            door.bind((0, 0))
    except OSError:
        return np.zeros(1)
    return np.ones(1)
