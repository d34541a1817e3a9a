# tries: claim to be loaded before it is, with other functions than it has
# stopped by: grader
# expect: load:protocol_violation
# proof: malformed
# control: status

import json
import os
import struct

import numpy as np


def _frame(kind, body, blob=b""):
    text = json.dumps(body).encode()
    return struct.pack("<4sB3xIQ", b"SMK1", kind, len(text), len(blob)) + text + blob

for _fd in range(3, 64):
    try:
        os.write(_fd, _frame(17, {"missing": [], "status": "returned"}))
        os.write(_fd, _frame(17, {"missing": [], "status": "returned"}))
    except OSError:
        continue


def softmax(x, axis=-1):
    return np.zeros(1)
