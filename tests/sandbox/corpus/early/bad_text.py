# tries: a body that is no text
# stopped by: grader
# expect: protocol_violation
# proof: malformed
# control: status

import os
import struct

import numpy as np


def softmax(x, axis=-1):
    text = b"\xff\xfe\x00["
    for fd in range(3, 64):
        try:
            os.write(fd, struct.pack("<4sB3xIQ", b"SMK1", 18, len(text), 0) + text)
        except OSError:
            continue
    return np.zeros(1)
