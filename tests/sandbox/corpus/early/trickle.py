# tries: feed one byte at a time for ever, so that no read ever times out
# stopped by: deadline
# expect: timed_out protocol_violation
# proof: time
# control: naive
# wall: 0.5

import os
import time

import numpy as np


def softmax(x, axis=-1):
    end = time.monotonic() + 30
    data = b"SMK1\x12\x00\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + b" " * 3000
    for place in range(len(data)):
        for fd in range(3, 16):
            try:
                os.write(fd, data[place : place + 1])
            except OSError:
                continue
        time.sleep(0.01)
        if time.monotonic() > end:
            break
    return np.ones(1)
