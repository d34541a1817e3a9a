# tries: send a complete forged reply while the file is being loaded, before any call was asked for
# stopped by: order
# expect: load:protocol_violation
# proof: ahead
# control: status

import json
import os
import struct

import numpy as np


def _frame(kind, body, blob=b""):
    text = json.dumps(body).encode()
    return struct.pack("<4sB3xIQ", b"SMK1", kind, len(text), len(blob)) + text + blob

_ANSWER = {"index": 0, "status": "returned", "arguments": [None], "value": ["a", "numpy", "float64", [1], 3], "seconds": 0.0}

for _fd in range(0, 64):
    try:
        os.write(_fd, _frame(18, _ANSWER, struct.pack("<d", 1.0)))
    except OSError:
        continue


def softmax(x, axis=-1):
    return np.zeros(1)
