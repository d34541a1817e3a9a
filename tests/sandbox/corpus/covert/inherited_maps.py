# tries: write into every shared writable mapping that it finds in its own memory
# stopped by: fork
# expect: returned
# proof: next
# control: status
# pair: two

import ctypes

import numpy as np

TARGET: dict = {}  # the arena fills this in


def _maps():
    try:
        with open("/proc/self/maps") as file:
            lines = file.readlines()
    except OSError:
        return []
    spans = []
    for line in lines:
        span, rights = line.split()[:2]
        if rights == "rw-s":
            spans.append(int(span.split("-")[0], 16))
    return spans


def softmax(x, axis=-1):
    for start in _maps():
        ctypes.memmove(start, TARGET["token"].encode(), len(TARGET["token"]))
    return np.zeros(1)


def collect(x, axis=-1):
    token = TARGET["token"].encode()
    return np.ones(1) if any(ctypes.string_at(s, len(token)) == token for s in _maps()) else np.zeros(1)
