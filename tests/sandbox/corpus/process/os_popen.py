# tries: read the output of a shell command with os.popen
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import os

import numpy as np


def softmax(x, axis=-1):
    try:
        text = os.popen("echo hello").read()
    except OSError:
        return np.zeros(1)
    return np.ones(1) if "hello" in text else np.zeros(1)
