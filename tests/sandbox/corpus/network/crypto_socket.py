# tries: reach the kernel's crypto code by AF_ALG
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import socket

import numpy as np


def softmax(x, axis=-1):
    try:
        socket.socket(38, socket.SOCK_SEQPACKET).close()
    except OSError as error:
        return np.full(1, 2.0) if error.errno == 97 else np.zeros(1)
    return np.ones(1)
