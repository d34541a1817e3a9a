# tries: write 32 MiB to descriptor 1, past sys.stdout
# stopped by: output
# expect: returned timed_out too_large
# proof: flood
# control: naive
# wall: 3

import os

import numpy as np


def softmax(x, axis=-1):
    for fd in (1, 2):
        try:
            for _ in range(512):
                os.write(fd, b"x" * 2**16)
        except OSError:
            continue
    return np.zeros(1)
