# tries: a regular expression with exponential backtracking
# stopped by: deadline
# expect: timed_out
# proof: time
# control: naive
# wall: 0.5

import re

import numpy as np


def softmax(x, axis=-1):
    re.match(r"(a|aa)+$", "a" * 60 + "b")
    return np.ones(1)
