# tries: say again that the locks are on
# stopped by: grader
# expect: load:protocol_violation
# proof: malformed
# control: status

import json
import os
import struct

import numpy as np

for _fd in range(3, 64):
    try:
        os.write(_fd, struct.pack("<4sB3xIQ", b"SMK1", 16, 2, 0) + json.dumps({}).encode())
    except OSError:
        continue


def softmax(x, axis=-1):
    return np.zeros(1)
