# tries: reply with an array of a library called os
# stopped by: grader
# expect: protocol_violation
# proof: malformed
# control: status

import json
import os
import struct

import numpy as np


def softmax(x, axis=-1):
    node = ["a", "os", "float64", [1], 3]
    blob = bytes(8)
    text = json.dumps({"index": 0, "status": "returned", "arguments": [None], "value": node, "seconds": 0.0}).encode()
    data = struct.pack("<4sB3xIQ", b"SMK1", 18, len(text), len(blob)) + text + blob
    for fd in range(3, 64):
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
        except OSError:
            continue
    return np.zeros(1)
