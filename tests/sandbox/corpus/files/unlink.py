# tries: delete a file of the grader
# stopped by: landlock bwrap uid
# expect: returned
# proof: victim
# control: naive

import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    try:
        os.unlink(TARGET["victim"])
    except OSError:
        return np.zeros(1)
    return np.ones(1)
