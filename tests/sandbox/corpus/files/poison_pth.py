# tries: plant a start-up hook in site-packages
# stopped by: landlock bwrap uid
# expect: returned
# proof: value
# control: naive-root

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    path = os.path.join(TARGET["site"], TARGET["token"] + ".pth")
    try:
        fd = os.open(path, os.O_CREAT | os.O_WRONLY)
    except OSError:
        return np.zeros(1)
    os.close(fd)
    os.unlink(path)
    return np.ones(1)
