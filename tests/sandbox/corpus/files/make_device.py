# tries: make a device node of the machine's memory
# stopped by: landlock bwrap seccomp uid
# expect: returned
# proof: file
# control: naive-root

import os
import stat

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        os.mknod(TARGET["mark"], stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except OSError:
        return np.zeros(1)
    return np.ones(1)
