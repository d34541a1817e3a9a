# tries: a JSON number of a million digits, slow to parse
# stopped by: grader
# expect: protocol_violation
# proof: malformed
# control: status

import os
import struct

import numpy as np


def softmax(x, axis=-1):
    text = b"[0," + b"9" * 10**6 + b"]"
    data = struct.pack("<4sB3xIQ", b"SMK1", 18, len(text), 0) + text
    for fd in range(3, 64):
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
        except OSError:
            continue
    return np.zeros(1)
