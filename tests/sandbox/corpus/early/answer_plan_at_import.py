# tries: answer every call from the top of the file and end, so that no call is ever made
# stopped by: order
# expect: load:protocol_violation
# proof: ahead
# control: status
# calls: 2

import json
import os
import struct

import numpy as np


def _frame(kind, body):
    text = json.dumps(body).encode()
    return struct.pack("<4sB3xIQ", b"SMK1", kind, len(text), 0) + text

_data = _frame(17, {"status": "returned", "missing": [], "seconds": 0.0})
for _index in range(2):
    _data += _frame(18, {"index": _index, "status": "returned", "arguments": [None], "value": 1.0, "seconds": 0.0})
_data += _frame(19, {})
for _fd in range(3, 64):
    try:
        os.write(_fd, _data)
    except OSError:
        continue
os._exit(0)


def softmax(x, axis=-1):
    return np.zeros(1)
