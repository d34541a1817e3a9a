# tries: put its output in the place of its line to the grader, so that frames go astray
# stopped by: grader
# expect: crashed timed_out
# proof: malformed
# control: status
# wall: 1

import os

import numpy as np


def softmax(x, axis=-1):
    os.dup2(1, 3)
    return np.zeros(1)
