# tries: hold a lock on a readable file as a message
# stopped by: seccomp fork
# expect: returned
# proof: next
# control: naive
# pair: two

import fcntl
import os
import time

import numpy as np

PLACE = os.path.realpath(np.__file__)


def softmax(x, axis=-1):
    try:
        if os.fork() == 0:
            with open(PLACE) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                time.sleep(2)
            os._exit(0)
    except OSError:
        return np.zeros(1)
    time.sleep(0.1)
    return np.zeros(1)


def collect(x, axis=-1):
    try:
        with open(PLACE) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return np.ones(1)
    except OSError:
        return np.zeros(1)
    return np.zeros(1)
