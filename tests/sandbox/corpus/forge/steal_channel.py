# tries: put a pipe of its own in the place of the channel
# stopped by: grader
# expect: crashed protocol_violation returned timed_out
# proof: malformed
# control: status
# wall: 2

import os

import numpy as np


def softmax(x, axis=-1):
    try:
        reader, writer = os.pipe()
    except OSError:
        reader, writer = 1, 2
    for fd in range(3, 32):
        if fd in (reader, writer):
            continue
        try:
            os.fstat(fd)
            os.dup2(writer, fd)
        except OSError:
            continue
    return np.zeros(1)
