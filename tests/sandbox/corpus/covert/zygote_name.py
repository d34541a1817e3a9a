# tries: leave a message in the name of the zygote, which the next submission could read
# stopped by: landlock bwrap uid rlimits
# expect: returned
# proof: next
# control: status
# pair: two

import os

import numpy as np


def softmax(x, axis=-1):
    try:
        with open(f"/proc/{os.getppid()}/comm", "w") as file:
            file.write("left-here")
    except OSError:
        pass
    return np.zeros(1)


def collect(x, axis=-1):
    try:
        with open(f"/proc/{os.getppid()}/comm") as file:
            return np.ones(1) if "left-here" in file.read() else np.zeros(1)
    except OSError:
        return np.zeros(1)
