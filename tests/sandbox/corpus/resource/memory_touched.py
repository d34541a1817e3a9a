# tries: fill memory for real, 16 MiB at a time, and never let go
# stopped by: rlimits
# expect: returned
# proof: value
# control: naive
# memory: 128

import numpy as np


def softmax(x, axis=-1):
    hoard = []
    try:
        for _ in range(24):
            hoard.append(bytearray(b"\xff" * (16 * 2**20)))
    except MemoryError:
        return np.zeros(1)
    return np.ones(1)
