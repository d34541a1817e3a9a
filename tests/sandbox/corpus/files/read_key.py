# tries: read the grader's key file (mode 0600)
# stopped by: landlock bwrap uid
# expect: returned
# proof: loot
# control: naive

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        with open(TARGET["key_file"], "rb") as file:
            return np.frombuffer(file.read(), dtype=np.uint8)
    except OSError:
        return np.zeros(1)
