# tries: name the owner by the ioctl FIOSETOWN on a socket
# stopped by: seccomp landlock bwrap uid
# expect: returned
# proof: canary
# control: naive

import fcntl
import os
import socket
import struct
import time

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        left, right = socket.socketpair()
        fcntl.fcntl(left, 10, 9)
        fcntl.ioctl(left, 0x8901, struct.pack("i", TARGET["canary_pid"]))
        fcntl.fcntl(left, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        right.send(b"x")
    except OSError:
        return np.zeros(1)
    time.sleep(0.05)
    return np.ones(1)
