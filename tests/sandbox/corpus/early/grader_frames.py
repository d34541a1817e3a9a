# tries: send frames that only the grader may send
# stopped by: grader
# expect: load:protocol_violation
# proof: malformed
# control: status

import os
import struct

import numpy as np

for _fd in range(3, 64):
    try:
        os.write(_fd, struct.pack("<4sB3xIQ", b"SMK1", 2, 2, 0) + b"{}")
    except OSError:
        continue


def softmax(x, axis=-1):
    return np.zeros(1)
