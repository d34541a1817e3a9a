# tries: fork twice, leave the session and stay behind when the submission is over
# stopped by: seccomp
# expect: returned
# proof: survivor
# control: naive

import os
import time

import numpy as np


def softmax(x, axis=-1):
    try:
        pid = os.fork()
    except OSError:
        return np.zeros(1)
    if pid == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(20)
        os._exit(0)
    os.waitpid(pid, 0)
    return np.ones(1)
