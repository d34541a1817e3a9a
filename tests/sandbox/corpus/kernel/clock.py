# tries: set the machine's clock (to the time that it shows)
# stopped by: seccomp uid
# expect: returned
# proof: value
# control: naive-root

import time

import numpy as np


def softmax(x, axis=-1):
    try:
        time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME))
    except OSError:
        return np.zeros(1)
    return np.ones(1)
