# tries: open a port and wait for orders
# stopped by: seccomp landlock bwrap
# expect: returned
# proof: value
# control: naive

import socket

import numpy as np


def softmax(x, axis=-1):
    try:
        with socket.socket() as door:
            door.bind(("127.0.0.1", 0))
            door.listen(1)
            return np.ones(1) if door.getsockname()[1] else np.zeros(1)
    except OSError:
        return np.zeros(1)
