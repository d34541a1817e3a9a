# tries: be told by signal when the grader opens a file (F_SETLEASE, F_NOTIFY)
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import fcntl
import os
import signal

import numpy as np


def softmax(x, axis=-1):
    got = 0
    try:
        # the signal ends the process unless it is ignored, and anybody's touch of / sends it
        signal.signal(signal.SIGIO, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
    try:
        fd = os.open("/", os.O_RDONLY)
        fcntl.fcntl(fd, fcntl.F_NOTIFY, fcntl.DN_ACCESS)
        got += 1
    except OSError:
        pass
    return np.ones(1) if got else np.zeros(1)
