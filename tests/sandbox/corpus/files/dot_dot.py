# tries: climb out of a readable folder by ..
# stopped by: landlock bwrap
# expect: returned
# proof: loot
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    start = os.path.dirname(os.path.realpath(np.__file__))
    climb = start + "/.." * (start.count("/") + 2) + TARGET["open_file"]
    try:
        with open(climb, "rb") as file:
            return np.frombuffer(file.read(), dtype=np.uint8)
    except OSError:
        return np.zeros(1)
