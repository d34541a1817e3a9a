# tries: talk to a unix socket of the grader by its path
# stopped by: seccomp bwrap
# expect: returned
# proof: listener
# control: naive

import socket

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        with socket.socket(socket.AF_UNIX) as door:
            door.connect(TARGET["unix_path"])
            door.sendall(TARGET["token"].encode())
    except OSError:
        return np.zeros(1)
    return np.ones(1)
