# tries: map 64 GiB of anonymous memory without reserving it
# stopped by: rlimits
# expect: returned
# proof: value
# control: naive

import mmap

import numpy as np


def softmax(x, axis=-1):
    try:
        view = mmap.mmap(-1, 64 * 2**30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
    except (OSError, MemoryError):
        return np.zeros(1)
    view[0] = 1
    return np.ones(1)
