# tries: kill through a pidfd
# stopped by: seccomp bwrap uid landlock
# expect: returned
# proof: canary
# control: naive

import os
import signal

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        fd = os.pidfd_open(TARGET["canary_pid"])
        signal.pidfd_send_signal(fd, signal.SIGKILL)
    except OSError:
        return np.zeros(1)
    return np.ones(1)
