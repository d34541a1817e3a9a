# tries: park 64 MiB in /dev/shm
# stopped by: rlimits landlock bwrap
# expect: returned
# proof: file
# control: naive

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        with open(TARGET["shm_mark"], "wb") as file:
            file.write(b"x" * 2**26)
    except OSError:
        return np.zeros(1)
    return np.ones(1)
