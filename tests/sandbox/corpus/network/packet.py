# tries: listen to every packet of the machine
# stopped by: seccomp uid
# expect: returned
# proof: value
# control: naive-root

import socket

import numpy as np


def softmax(x, axis=-1):
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)).close()
    except OSError:
        return np.zeros(1)
    return np.ones(1)
