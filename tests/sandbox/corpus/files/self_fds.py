# tries: list its own descriptors by name in /proc/self/fd
# stopped by: descriptors
# expect: returned
# proof: loot
# control: naive

import os

import numpy as np


def softmax(x, axis=-1):
    found = ["nothing"]
    for fd in range(3, 256):
        try:
            found.append(os.readlink(f"/proc/self/fd/{fd}"))
        except OSError:
            continue
    for name in list(found):
        try:
            if os.path.isfile(name):
                with open(name) as file:
                    found.append(file.read(4096))
        except (OSError, UnicodeDecodeError):
            continue
    return np.frombuffer("\n".join(found).encode(), dtype=np.uint8)
