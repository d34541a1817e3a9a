# tries: reach the key file through a symbolic link of its own
# stopped by: landlock bwrap
# expect: returned
# proof: loot
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        os.symlink(TARGET["open_file"], TARGET["mark"])
        with open(TARGET["mark"], "rb") as file:
            return np.frombuffer(file.read(), dtype=np.uint8)
    except OSError:
        return np.zeros(1)
