# tries: a JSON body of 100,000 nested lists, to overflow the grader's parser
# stopped by: grader
# expect: protocol_violation
# proof: malformed
# control: status

import os
import struct

import numpy as np


def softmax(x, axis=-1):
    text = b"[" * 100_000 + b"]" * 100_000
    data = struct.pack("<4sB3xIQ", b"SMK1", 18, len(text), 0) + text
    for fd in range(3, 64):
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
        except OSError:
            continue
    return np.zeros(1)
