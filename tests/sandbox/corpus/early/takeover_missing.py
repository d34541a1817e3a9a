# tries: speak in the harness's place and name functions as missing that nobody asked for, with markup
# stopped by: grader
# expect: returned protocol_violation
# proof: malformed
# control: status
# calls: 1

import json
import os
import struct

import numpy as np


def _send(kind, body, blob=b""):
    text = json.dumps(body).encode()
    data = memoryview(struct.pack("<4sB3xIQ", b"SMK1", kind, len(text), len(blob)) + text + blob)
    while data:
        data = data[os.write(3, data) :]


def _read(size):
    got = b""
    while len(got) < size:
        piece = os.read(3, size - len(got))
        if not piece:
            os._exit(0)
        got += piece
    return got


def _receive():
    _, kind, n_json, n_blob = struct.unpack("<4sB3xIQ", _read(20))
    return kind, json.loads(_read(n_json)), _read(n_blob)


def _take_over(loaded, answer):
    """Speak the whole protocol in the harness's place, in the right order."""
    _send(17, loaded)
    _, plan, _ = _receive()
    for index in range(len(plan["calls"])):
        _send(18, {"index": index, "seconds": 0.0, **answer})
    _send(19, {})
    os._exit(0)

_take_over({"status": "returned", "missing": ["<b>\x1b[31m", "x" * 10000], "seconds": 0.0}, {"status": "returned", "arguments": [None], "value": 0.25})


def softmax(x, axis=-1):
    return np.zeros(1)
