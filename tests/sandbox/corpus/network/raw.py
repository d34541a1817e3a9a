# tries: forge packets with a raw socket
# stopped by: seccomp uid
# expect: returned
# proof: value
# control: naive-root

import socket

import numpy as np


def softmax(x, axis=-1):
    try:
        socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
    except OSError:
        return np.zeros(1)
    return np.ones(1)
