# tries: read the environment with which the process was started
# stopped by: environ bwrap
# expect: returned
# proof: loot
# control: naive

import numpy as np


def softmax(x, axis=-1):
    try:
        with open("/proc/self/environ", "rb") as file:
            return np.frombuffer(file.read() or b"empty", dtype=np.uint8)
    except OSError:
        return np.zeros(1)
