# tries: report a status that only the grader may give, to be counted as a fault of the machine
# stopped by: grader
# expect: protocol_violation
# proof: malformed
# control: status

import json
import os
import struct

import numpy as np


def softmax(x, axis=-1):
    text = json.dumps({"index": 0, "status": "engine_error", "value": None, "seconds": 0.0}).encode()
    for fd in range(3, 64):
        try:
            os.write(fd, struct.pack("<4sB3xIQ", b"SMK1", 18, len(text), 0) + text)
        except OSError:
            continue
    return np.zeros(1)
