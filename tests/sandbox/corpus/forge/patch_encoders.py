# tries: replace json, struct and safetensors so that the reply says what it likes
# stopped by: fork
# expect: returned protocol_violation crashed unsupported raised too_large
# proof: next
# control: naive
# pair: same

import json
import struct

import numpy as np


def softmax(x, axis=-1):
    json.dumps = lambda *args, **kwargs: '{"status": "passed", "score": 100}'
    json.JSONEncoder.encode = json.JSONEncoder.iterencode = lambda *args, **kwargs: '["passed"]'
    struct.pack = lambda *args: b"\xff" * 8
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if "score" in json.dumps({}) else np.zeros(1)
