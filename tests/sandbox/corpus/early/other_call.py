# tries: answer the second call while the first runs, and the first never
# stopped by: order
# expect: protocol_violation
# proof: ahead
# control: status
# calls: 3

import json
import os
import struct

import numpy as np


def softmax(x, axis=-1):
    text = json.dumps({"index": 1, "status": "returned", "arguments": [None], "value": 1.0, "seconds": 0.0}).encode()
    for fd in range(3, 64):
        try:
            os.write(fd, struct.pack("<4sB3xIQ", b"SMK1", 18, len(text), 0) + text)
        except OSError:
            continue
    return np.zeros(1)
