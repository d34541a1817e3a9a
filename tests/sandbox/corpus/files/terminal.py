# tries: push keystrokes into the grader's terminal
# stopped by: seccomp
# expect: returned
# proof: value
# control: status

import fcntl
import os

import numpy as np


def softmax(x, axis=-1):
    pushed = 0
    for path in ("/dev/tty", "/proc/self/fd/0"):
        try:
            fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            fcntl.ioctl(fd, 0x5412, b"x")
            pushed += 1
        except OSError:
            continue
    for fd in (0, 1, 2):
        try:
            fcntl.ioctl(fd, 0x5412, b"x")
            pushed += 1
        except OSError:
            continue
    return np.ones(1) if pushed else np.zeros(1)
