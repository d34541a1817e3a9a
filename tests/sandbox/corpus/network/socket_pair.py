# tries: make a socket pair and pass descriptors over it
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import socket

import numpy as np


def softmax(x, axis=-1):
    try:
        left, right = socket.socketpair()
        socket.send_fds(left, [b"x"], [0])
        _, fds, _, _ = socket.recv_fds(right, 1, 1)
    except OSError:
        return np.zeros(1)
    return np.ones(1) if fds else np.zeros(1)
