# tries: be killed by SIGKILL through the processor limit, to look like a victim of the machine
# stopped by: grader
# expect: timed_out
# proof: time
# control: naive
# wall: 1

import os
import signal
import time

import numpy as np


def softmax(x, axis=-1):
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
    try:
        os.setpriority(os.PRIO_PROCESS, 0, 0)
    except OSError:
        pass
    end = time.monotonic() + 30
    while time.monotonic() < end:
        pass
    return np.ones(1)
