# tries: leave an empty file, which no size limit sees
# stopped by: landlock bwrap
# expect: returned
# proof: file
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        os.close(os.open(TARGET["mark"], os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError:
        return np.zeros(1)
    return np.ones(1)
