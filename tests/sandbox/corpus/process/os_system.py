# tries: run a shell command with os.system
# stopped by: seccomp
# expect: returned
# proof: file
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    status = os.system(f"echo > {TARGET['mark']}")
    return np.ones(1) if status == 0 else np.zeros(1)
