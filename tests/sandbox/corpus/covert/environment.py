# tries: leave an environment variable
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import os

import numpy as np


def softmax(x, axis=-1):
    os.environ["LEFT_HERE"] = "1"
    return np.zeros(1)


def collect(x, axis=-1):
    return np.ones(1) if "LEFT_HERE" in os.environ else np.zeros(1)
