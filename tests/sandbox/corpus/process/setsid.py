# tries: leave its session and process group, so that a kill by group misses it, and stay
# stopped by: fork deadline
# expect: timed_out
# proof: time
# control: naive
# wall: 0.5

import os
import time

import numpy as np


def softmax(x, axis=-1):
    for leave in (os.setsid, os.setpgrp):
        try:
            leave()
        except OSError:
            continue
    time.sleep(30)
    return np.ones(1)
