# tries: talk to an abstract unix socket, which no file rule covers
# stopped by: seccomp bwrap landlock
# expect: returned
# proof: listener
# control: naive

import socket

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        with socket.socket(socket.AF_UNIX) as door:
            door.connect("\0" + TARGET["abstract"])
            door.sendall(TARGET["token"].encode())
    except OSError:
        return np.zeros(1)
    return np.ones(1)
