# tries: posix_spawn, which clones inside the C library
# stopped by: seccomp
# expect: returned
# proof: file
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        pid = os.posix_spawn("/bin/sh", ["sh", "-c", f"echo > {TARGET['mark']}"], {})
        os.waitpid(pid, 0)
    except OSError:
        return np.zeros(1)
    return np.ones(1)
