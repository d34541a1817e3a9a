# tries: take a real-time priority, so that one spinning submission starves the machine
# stopped by: seccomp uid
# expect: returned
# proof: value
# control: naive-root

import os

import numpy as np


def softmax(x, axis=-1):
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        return np.zeros(1)
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return np.ones(1)
