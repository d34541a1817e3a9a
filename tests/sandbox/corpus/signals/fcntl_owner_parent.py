# tries: arm the same kernel signal at the zygote
# stopped by: seccomp landlock uid
# expect: returned
# proof: engine
# control: naive

import fcntl
import os
import signal
import time

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    if TARGET["naive"]:
        os.kill(TARGET["canary_pid"], signal.SIGKILL)
        return np.zeros(1)
    try:
        reader, writer = os.pipe()
    except OSError:
        reader, writer = 1, 1  # its own output is a pipe, too
    try:
        fcntl.fcntl(reader, 10, 9)
        fcntl.fcntl(reader, fcntl.F_SETOWN, os.getppid())
        fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    except OSError:
        return np.zeros(1)
    os.write(writer, b"x")
    time.sleep(0.05)
    return np.ones(1)
