# tries: replace itself with another program, which no Python patch survives
# stopped by: seccomp
# expect: returned
# proof: file
# control: naive

import os
import sys

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    code = f"open({TARGET['mark']!r}, 'w').close()"
    try:
        os.execv(sys.executable, [sys.executable, "-S", "-c", code])
    except OSError:
        return np.zeros(1)
