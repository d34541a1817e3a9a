# tries: announce a frame of 2**60 bytes
# stopped by: grader
# expect: protocol_violation
# proof: malformed
# control: status

import os
import struct

import numpy as np


def softmax(x, axis=-1):
    for fd in range(3, 64):
        try:
            os.write(fd, struct.pack("<4sB3xIQ", b"SMK1", 18, 10, 2**60))
        except OSError:
            continue
    return np.zeros(1)
