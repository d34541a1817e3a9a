# tries: talk to the zygote's grader over a descriptor that was left open, and report its own end
# stopped by: descriptors
# expect: returned
# proof: value
# control: naive

import json
import os
import stat

import numpy as np


def softmax(x, axis=-1):
    found = 0
    for fd in range(4, 256):
        try:
            mode = os.fstat(fd).st_mode
        except OSError:
            continue
        if stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode) or stat.S_ISREG(mode):
            found += 1
        try:
            os.write(fd, json.dumps({"ended": 1, "status": 0, "cpu_s": 0.0}).encode())
        except OSError:
            continue
    return np.ones(1) if found else np.zeros(1)
