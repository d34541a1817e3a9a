# tries: print 32 MiB
# stopped by: output
# expect: returned timed_out too_large
# proof: flood
# control: naive
# wall: 3

import numpy as np


def softmax(x, axis=-1):
    line = "x" * 2**16
    for _ in range(512):
        print(line)
    return np.zeros(1)
