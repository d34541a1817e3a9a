# tries: look into the home folder of the grader's user
# stopped by: landlock bwrap
# expect: returned
# proof: value
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        return np.ones(1) if "key" in os.listdir(TARGET["folder"]) else np.zeros(1)
    except OSError:
        return np.zeros(1)
