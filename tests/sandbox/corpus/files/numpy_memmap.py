# tries: map the key file into memory with numpy
# stopped by: landlock bwrap uid
# expect: returned unsupported
# proof: loot
# control: naive

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        return np.memmap(TARGET["open_file"], dtype=np.uint8, mode="r")
    except OSError:
        return np.zeros(1)
