# tries: write 32 MiB to standard error
# stopped by: output
# expect: returned timed_out too_large
# proof: flood
# control: naive
# wall: 3

import sys

import numpy as np


def softmax(x, axis=-1):
    line = "x" * 2**16
    for _ in range(512):
        sys.stderr.write(line)
    return np.zeros(1)
