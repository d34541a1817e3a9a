# tries: bind a unix socket, which makes a file
# stopped by: landlock bwrap seccomp
# expect: returned
# proof: file
# control: naive

import socket

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        socket.socket(socket.AF_UNIX).bind(TARGET["mark"])
    except OSError:
        return np.zeros(1)
    return np.ones(1)
