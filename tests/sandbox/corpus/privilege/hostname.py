# tries: rename the machine (to the name that it has)
# stopped by: seccomp uid
# expect: returned
# proof: value
# control: naive-root

import socket

import numpy as np


def softmax(x, axis=-1):
    try:
        socket.sethostname(socket.gethostname())
    except OSError:
        return np.zeros(1)
    return np.ones(1)
