# tries: fill kernel memory through pipe buffers
# stopped by: rlimits
# expect: returned
# proof: value
# control: naive

import os

import numpy as np


def softmax(x, axis=-1):
    filled = 0
    try:
        for _ in range(450):
            reader, writer = os.pipe()
            os.write(writer, b"x" * 4096)
            filled += 4096
    except OSError:
        pass
    return np.ones(1) if filled == 450 * 4096 else np.zeros(1)
